// How long to wait before each retry, when the server has not said: exponential, with full jitter.
import type { Millis } from '../time/clock.ts'
import type { Duration } from '../time/duration.ts'
import { OptionReader } from '../options/option-reader.ts'

/** How waits grow. */
export interface BackoffOptions {
  /** The ceiling of the first delay. Default 500 ms. */
  readonly base?: Duration
  /** By how much the ceiling grows with each delay. Default 2. */
  readonly factor?: number
  /** The highest ceiling. Default 60 s. */
  readonly cap?: Duration
  /** `full`: each delay is drawn evenly from 0 to its ceiling. `none`: each is its ceiling. Default `full`. */
  readonly jitter?: 'full' | 'none'
  /** How many delays there are. Default: no end. */
  readonly attempts?: number
  /** From 0 to below 1. Default `Math.random`. */
  readonly random?: () => number
}

/** What {@link backoff} and those that build on it may be told about delays. */
export const BACKOFF_OPTIONS: readonly string[] = ['base', 'factor', 'cap', 'jitter', 'random']

/**
 * The delays before one retry after the other, in whole milliseconds. Delay n is drawn evenly from 0 to
 * min(cap, base · factorⁿ), so that clients which were refused together do not come back together.
 */
export function backoff(options: BackoffOptions = {}): Generator<Millis, void, void> {
  const reader = new OptionReader('backoff', options, [...BACKOFF_OPTIONS, 'attempts'])
  const attempts = reader.number('attempts', options.attempts, Number.MAX_SAFE_INTEGER, {
    least: 0,
    whole: true,
  })
  return delays(attempts, readBackoff(reader, options))
}

/** By itself, so that a mistake in the options is thrown before the first delay is asked for. */
function* delays(attempts: number, delayOf: DelayOf): Generator<Millis, void, void> {
  for (let n = 0; n < attempts; n++) yield delayOf(n)
}

/** The n-th delay, counted from 0. */
export type DelayOf = (n: number) => Millis

/** The delays that the options describe; throws `invalid-option` for others. */
export function readBackoff(reader: OptionReader, options: BackoffOptions): DelayOf {
  const base = reader.duration('base', options.base, 500)
  const factor = reader.number('factor', options.factor, 2, { least: 1, most: 100 })
  const cap = reader.duration('cap', options.cap, 60_000)
  const random = reader.callable('random', options.random, Math.random)
  const { jitter = 'full' } = options
  if (jitter !== 'full' && jitter !== 'none') reader.wrong('jitter', jitter, "'full' or 'none'")
  return (n) => {
    const ceiling = Math.floor(Math.min(cap, base * factor ** n))
    return jitter === 'none' ? ceiling : Math.floor(random() * (ceiling + 1))
  }
}

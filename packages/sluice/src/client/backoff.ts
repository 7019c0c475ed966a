// The delays before retries when the server names no wait: exponential, with full jitter.
import type { Millis } from '../time/clock.ts'
import type { Duration } from '../time/duration.ts'
import { OptionReader, readDuration } from '../options/option-reader.ts'

/**
 * Options of {@link backoff}.
 *
 * @example
 * ```ts
 * const waits = [...backoff({ base: '200ms', cap: '5s', attempts: 4, jitter: 'none' })]
 * ```
 */
export interface BackoffOptions {
  /** The upper bound of the first delay. Default 500 ms. */
  readonly base?: Duration
  /** The factor by which the upper bound grows with each delay. Default 2. */
  readonly factor?: number
  /** The highest upper bound. Default 60 s. */
  readonly cap?: Duration
  /** `full`: each delay is drawn evenly from 0 to its upper bound. `none`: each is its upper bound. Default `full`. */
  readonly jitter?: 'full' | 'none'
  /** How many delays there are. Default: unlimited. */
  readonly attempts?: number
  /** Returns numbers from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number
}

/** The names of the options that shape delays. */
export const BACKOFF_OPTIONS: readonly string[] = ['base', 'factor', 'cap', 'jitter', 'random']

/**
 * The delays before successive retries, in whole milliseconds. Delay n is drawn evenly from 0 to
 * min(cap, base · factorⁿ), so that clients refused at the same time do not retry at the same time.
 *
 * @example
 * ```ts
 * for (const delay of backoff({ attempts: 3 })) {
 *   if (await tryOnce()) break
 *   await new Promise((resolve) => setTimeout(resolve, delay))
 * }
 * ```
 */
export function backoff(options: BackoffOptions = {}): Generator<Millis, void, void> {
  const reader = new OptionReader('backoff', options, [...BACKOFF_OPTIONS, 'attempts'])
  const attempts = reader.number('attempts', options.attempts, Number.MAX_SAFE_INTEGER, {
    least: 0,
    whole: true,
  })
  return delays(attempts, readBackoff(reader, options))
}

/** A separate generator, so that invalid options throw before the first delay is requested. */
function* delays(attempts: number, delayOf: DelayOf): Generator<Millis, void, void> {
  for (let n = 0; n < attempts; n++) yield delayOf(n)
}

/** Returns the n-th delay, counted from 0. */
export type DelayOf = (n: number) => Millis

/** Reads the options that shape delays; throws `invalid-option`. */
export function readBackoff(reader: OptionReader, options: BackoffOptions): DelayOf {
  const base = readDuration(reader, 'base', options.base, 500)
  const factor = reader.number('factor', options.factor, 2, { least: 1, most: 100 })
  const cap = readDuration(reader, 'cap', options.cap, 60_000)
  const random = reader.callable('random', options.random, Math.random)
  const { jitter = 'full' } = options
  if (jitter !== 'full' && jitter !== 'none') reader.wrong('jitter', jitter, "'full' or 'none'")
  return (n) => {
    const upperBound = Math.floor(Math.min(cap, base * factor ** n))
    return jitter === 'none' ? upperBound : Math.floor(random() * (upperBound + 1))
  }
}

// What people may set, and the mistakes they make.
import { show, SluiceError } from '../errors.ts'
import { systemClock, type Clock, type Millis } from '../time/clock.ts'
import { systemTimers, type Timers } from '../time/timers.ts'
import { Breaker, type BreakerOptions } from './breaker.ts'
import type { OnEvent } from './events.ts'

/** How long to wait. */
export interface DeadlineOptions {
  /** Milliseconds after which a call is given up. Default 100. */
  readonly timeout?: Millis
}

/** Who hears of it. */
export interface EventOptions {
  /** Hears of every transition, fallback and late answer. What it throws is dropped. */
  readonly onEvent?: OnEvent
}

/** Time and chance, as a seam: simulations bring their own. */
export interface Surroundings {
  readonly clock: Clock
  readonly timers: Timers
  /** From 0 to 1, for the jitter of probes. */
  readonly random: () => number
}

/** The runtime's own. */
export const SURROUNDINGS: Surroundings = {
  clock: systemClock,
  timers: systemTimers,
  random: Math.random,
}

/** The default of {@link DeadlineOptions.timeout}. */
export const TIMEOUT: Millis = 100

/** Says what is wrong with an option of a function. */
export type Wrong = (message: string) => never

/** Complains as `who`. */
export function wrongFor(who: string): Wrong {
  return (message) => {
    throw new SluiceError('invalid-option', `${who}: ${message}`)
  }
}

/** Options that are an object with none but the names given; undefined is none at all. */
export function checkNames(options: unknown, names: readonly string[], wrong: Wrong): void {
  if (typeof options !== 'object' || options === null)
    wrong(`options are ${show(options)}; accepted: an object with ${names.join(', ')}`)
  const unknown = Object.keys(options as object).find((name) => !names.includes(name))
  if (unknown !== undefined) wrong(`unknown option ${show(unknown)}; accepted: ${names.join(', ')}`)
}

/** A timeout as a timer can wait. */
export function checkTimeout(timeout: unknown, wrong: Wrong): void {
  if (timeout === undefined) return
  if (
    !Number.isSafeInteger(timeout) ||
    (timeout as number) < 1 ||
    (timeout as number) > 2 ** 31 - 1
  )
    wrong(`timeout is ${show(timeout)}; accepted: whole milliseconds, 1 or more`)
}

/** A function, if anything. */
export function checkFunction(name: string, value: unknown, wrong: Wrong): void {
  if (value !== undefined && typeof value !== 'function')
    wrong(`${name} is ${show(value)}; accepted: a function`)
}

const BREAKER_OPTIONS = ['failures', 'ratio', 'calls', 'firstProbe', 'lastProbe'] as const

/** The breaker that options ask for. */
export function breakerOf(options: unknown, wrong: Wrong): Breaker {
  if (options === undefined) return new Breaker()
  checkNames(options, BREAKER_OPTIONS, (message) => wrong(`breaker: ${message}`))
  const given = options as BreakerOptions
  for (const name of ['failures', 'calls', 'firstProbe', 'lastProbe'] as const) {
    const value = given[name]
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1))
      wrong(`breaker.${name} is ${show(value)}; accepted: a whole number, 1 or more`)
  }
  const { ratio } = given
  if (ratio !== undefined && !(typeof ratio === 'number' && ratio > 0 && ratio <= 1))
    wrong(`breaker.ratio is ${show(ratio)}; accepted: a number above 0, at most 1`)
  return new Breaker(given)
}

/** A breaker that never opens, for guards without one. */
export function noBreaker(): Breaker {
  return new Breaker({ failures: Infinity, ratio: Infinity })
}

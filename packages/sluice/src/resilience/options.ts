// The options of resilience, their defaults, and what is wrong with them.
import { show, SluiceError } from '../errors.ts'
import { systemClock, type Clock, type Millis } from '../time/clock.ts'
import { isTimerDelay, systemTimers, type Timers } from '../time/timers.ts'
import { unknownName } from '../options/suggest.ts'
import type { RemoteStore, Store } from '../stores/store.ts'
import type { BreakerOptions } from './circuit-breaker.ts'
import type { OnEvent, ResilienceEvent } from './events.ts'

/**
 * What happens when a remote store is slow, unreachable or wrong.
 *
 * @example
 * ```ts
 * createLimiter({
 *   limit: '100/min',
 *   store: redisStore(client),
 *   resilience: { timeout: 50, replicas: 4 },
 * })
 * ```
 */
export interface ResilienceOptions {
  /** Milliseconds after which a call is given up. Default: the store's own deadline, else 100. */
  readonly timeout?: Millis
  /** The share of every quota and burst that this process grants by itself: above 0, at most 1. Default 0.5. */
  readonly fallbackShare?: number
  /** Or how many processes share the limits: each then grants the quota divided by them, never less than 1. */
  readonly replicas?: number
  readonly breaker?: BreakerOptions
  /** Receives every transition, fallback and late answer. Default: one console warning when the store is lost, one when it is back. */
  readonly onEvent?: OnEvent
}

/**
 * Time and chance, as a seam: simulations bring their own.
 *
 * @example
 * ```ts
 * const environment: Partial<Environment> = { clock: fakeClock(), random: () => 0.5 }
 * ```
 */
export interface Environment {
  readonly clock: Clock
  readonly timers: Timers
  /** From 0 to 1, for the jitter of probes. */
  readonly random: () => number
}

/** The runtime's own. */
export const environment: Environment = {
  clock: systemClock,
  timers: systemTimers,
  random: Math.random,
}

/** The default of {@link ResilienceOptions.timeout} for a store without a deadline of its own. */
export const TIMEOUT: Millis = 100
const FALLBACK_SHARE = 0.5

/** The names of {@link ResilienceOptions}. */
export const RESILIENCE_OPTIONS: readonly string[] = [
  'timeout',
  'fallbackShare',
  'replicas',
  'breaker',
  'onEvent',
]
const BREAKER_OPTIONS = ['failures', 'ratio', 'calls', 'firstProbe', 'lastProbe'] as const

/** Throws for a wrong option. */
export type Wrong = (message: string) => never

/** Throws `invalid-option` in the name of a function. */
export function wrongFor(who: string): Wrong {
  return (message) => {
    throw new SluiceError('invalid-option', `${who}: ${message}`)
  }
}

/** Checks the options of resilience for a store. */
export function checkResilience(options: unknown, store: Store, wrong: Wrong): void {
  checkNames(options, RESILIENCE_OPTIONS, wrong)
  const { timeout, fallbackShare, replicas, breaker, onEvent } = options as ResilienceOptions
  if (store.sync === true)
    wrong('the store answers at once and cannot fail; accepted: nothing, or a remote store')
  const { timeout: storeTimeout } = store as RemoteStore
  if (timeout !== undefined && !isTimerDelay(timeout))
    wrong(`timeout is ${show(timeout)}; accepted: whole milliseconds, 1 or more`)
  if (timeout !== undefined && storeTimeout !== undefined && timeout > storeTimeout)
    wrong(
      `timeout is ${timeout}, but the store gives up after ${storeTimeout} ms itself; accepted: at most that, or a store with a longer one`,
    )
  if (
    fallbackShare !== undefined &&
    !(typeof fallbackShare === 'number' && fallbackShare > 0 && fallbackShare <= 1)
  )
    wrong(`fallbackShare is ${show(fallbackShare)}; accepted: a number above 0, at most 1`)
  if (replicas !== undefined && (!Number.isSafeInteger(replicas) || replicas < 1))
    wrong(`replicas is ${show(replicas)}; accepted: a whole number, 1 or more`)
  if (fallbackShare !== undefined && replicas !== undefined)
    wrong('both fallbackShare and replicas are given; accepted: one of them')
  checkBreaker(breaker, wrong)
  if (onEvent !== undefined && typeof onEvent !== 'function')
    wrong(`onEvent is ${show(onEvent)}; accepted: a function`)
}

/** The share of some units that this process grants by itself. */
export function scaleOf({
  fallbackShare = FALLBACK_SHARE,
  replicas,
}: ResilienceOptions): (units: number) => number {
  // A little is added before rounding down: 0.29 of 100 is 29, although the product is a bit less.
  return (units) =>
    Math.floor(replicas === undefined ? units * fallbackShare + 1e-6 : units / replicas)
}

/** Checks the options of a breaker. */
export function checkBreaker(options: unknown, wrong: Wrong): void {
  if (options === undefined) return
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
}

/** One warning when the store is lost and one when it is back: a lost store is never silent. */
export const warnOfLostStore: OnEvent = (event) => {
  const warning = warningOf(event)
  // oxlint-disable-next-line no-console -- the default of `onEvent`: without a listener, the console is the only place.
  if (warning !== undefined) console.warn(warning)
}

function warningOf(event: ResilienceEvent): string | undefined {
  if (event.type === 'opened')
    return `sluice: the store does not answer (${event.cause}); this process limits by itself until it does`
  if (event.type === 'closed')
    return `sluice: the store answers again after ${Math.round(event.openFor / 100) / 10} s`
  return undefined
}

/** Options must be an object with none but these names. */
export function checkNames(options: unknown, names: readonly string[], wrong: Wrong): void {
  if (typeof options !== 'object' || options === null)
    wrong(`options are ${show(options)}; accepted: an object with ${names.join(', ')}`)
  const unknown = Object.keys(options as object).find((name) => !names.includes(name))
  if (unknown === undefined) return
  wrong(unknownName('option', unknown, names))
}

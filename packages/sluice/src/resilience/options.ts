// The options of resilience, their defaults, and what is wrong with them.
import { systemClock, type Clock, type Millis } from '../time/clock.ts'
import { systemTimers, type Timers } from '../time/timers.ts'
import { OptionReader, type Bounds } from '../options/option-reader.ts'
import type { RemoteStore, Store } from '../stores/store.ts'
import type { BreakerOptions } from './circuit-breaker.ts'
import type { OnEvent } from './events.ts'

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
 * The clock, the timers and the random numbers, which tests and simulations replace.
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
/** The default of {@link ResilienceOptions.fallbackShare}. */
export const FALLBACK_SHARE = 0.5

/** The names of {@link ResilienceOptions}. */
export const RESILIENCE_OPTIONS: readonly string[] = [
  'timeout',
  'fallbackShare',
  'replicas',
  'breaker',
  'onEvent',
]
const BREAKER_OPTIONS = ['failures', 'ratio', 'calls', 'firstProbe', 'lastProbe'] as const

const SHARE: Bounds = { above: 0, most: 1 }
const COUNT: Bounds = { least: 1, whole: true }

/** Checks the options of resilience for a store. */
export function checkResilience(name: string, options: unknown, store: Store): void {
  const reader = new OptionReader(name, options, RESILIENCE_OPTIONS)
  const { timeout, fallbackShare, replicas, breaker, onEvent } = options as ResilienceOptions
  if (store.sync === true)
    reader.fail('the store answers at once and cannot fail; accepted: nothing, or a remote store')
  const { timeout: longest } = store as RemoteStore
  reader.millis('timeout', timeout, TIMEOUT)
  if (timeout !== undefined && longest !== undefined && timeout > longest)
    reader.fail(
      `timeout is ${timeout}, but the store gives up after ${longest} ms itself; accepted: at most that, or a store with a longer one`,
    )
  reader.number('fallbackShare', fallbackShare, FALLBACK_SHARE, SHARE)
  reader.number('replicas', replicas, undefined, COUNT)
  if (fallbackShare !== undefined && replicas !== undefined)
    reader.fail('both fallbackShare and replicas are given; accepted: one of them')
  checkBreaker(name, breaker)
  reader.callable('onEvent', onEvent, undefined)
}

/** Checks the options of a breaker. */
export function checkBreaker(name: string, options: BreakerOptions | undefined): void {
  if (options === undefined) return
  const reader = new OptionReader(`${name}: breaker`, options, BREAKER_OPTIONS)
  for (const option of ['failures', 'calls', 'firstProbe', 'lastProbe'] as const)
    reader.number(option, options[option], undefined, COUNT)
  reader.number('ratio', options.ratio, undefined, SHARE)
}

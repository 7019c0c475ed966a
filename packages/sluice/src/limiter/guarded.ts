// A limiter on a remote store, guarded: it answers whatever the store does.
import { show } from '../errors.ts'
import type { BreakerOptions } from '../resilience/breaker.ts'
import { Guard } from '../resilience/guard.ts'
import {
  breakerOf,
  checkFunction,
  checkNames,
  checkTimeout,
  SURROUNDINGS,
  TIMEOUT,
  type DeadlineOptions,
  type EventOptions,
  type Surroundings,
  type Wrong,
} from '../resilience/options.ts'
import type { Store } from '../stores/store.ts'
import type { Limiter } from './limiter.ts'
import type { RuleLimiter } from './rule-limiter.ts'
import { StandIn, type StandInOptions } from './stand-in.ts'

/** What happens when a remote store is slow, gone or wrong. */
export interface ResilienceOptions extends DeadlineOptions, EventOptions {
  /** The part of every quota and burst that this process grants by itself: above 0, at most 1. Default 0.5. */
  readonly fallbackShare?: number
  /** Or how many processes share the limits: each then grants its part, the quota divided by them. */
  readonly replicas?: number
  readonly breaker?: BreakerOptions
}

const OPTIONS = ['timeout', 'fallbackShare', 'replicas', 'breaker', 'onEvent']
const FALLBACK_SHARE = 0.5

/** Complains about options of resilience. */
export function checkResilience(options: unknown, store: Store | undefined, wrong: Wrong): void {
  if (options === undefined || options === false) return
  const wrongHere: Wrong = (message) => wrong(`resilience: ${message}`)
  if (typeof options !== 'object' || options === null)
    wrong(
      `resilience is ${show(options)}; accepted: false, or an object with ${OPTIONS.join(', ')}`,
    )
  checkNames(options, OPTIONS, wrongHere)
  const { timeout, fallbackShare, replicas, breaker, onEvent } = options as ResilienceOptions
  if (store === undefined || store.sync === true)
    wrongHere('the store answers at once and cannot fail; accepted: nothing, or a remote store')
  checkTimeout(timeout, wrongHere)
  if (timeout !== undefined && store?.timeout !== undefined && timeout > store.timeout)
    wrongHere(
      `timeout is ${timeout}, but the store gives up after ${store.timeout} ms itself; accepted: at most that, or a store with a longer one`,
    )
  if (
    fallbackShare !== undefined &&
    !(typeof fallbackShare === 'number' && fallbackShare > 0 && fallbackShare <= 1)
  )
    wrongHere(`fallbackShare is ${show(fallbackShare)}; accepted: a number above 0, at most 1`)
  if (replicas !== undefined && (!Number.isSafeInteger(replicas) || replicas < 1))
    wrongHere(`replicas is ${show(replicas)}; accepted: a whole number, 1 or more`)
  if (fallbackShare !== undefined && replicas !== undefined)
    wrongHere('both fallbackShare and replicas are given; accepted: one of them')
  breakerOf(breaker, wrongHere)
  checkFunction('onEvent', onEvent, wrongHere)
}

/** What a guarded limiter is made from, beside the limiter itself. */
export interface GuardedParts extends Omit<StandInOptions, 'partOf' | 'clock'> {
  readonly resilience: ResilienceOptions
}

/** Guards a limiter on a remote store. The options have been checked. */
export function guarded(
  limiter: RuleLimiter,
  { resilience, ...standIn }: GuardedParts,
  surroundings: Surroundings = SURROUNDINGS,
): Limiter {
  const { timeout, fallbackShare = FALLBACK_SHARE, replicas, breaker, onEvent } = resilience
  const { store } = standIn
  const partOf = (units: number): number =>
    // The least above: 0.29 of 100 is 29, whatever the last bit says.
    Math.floor(replicas === undefined ? units * fallbackShare + 1e-6 : units / replicas)
  const clock = surroundings === SURROUNDINGS ? undefined : surroundings.clock
  const guard = new Guard(limiter, {
    // A store that keeps the deadline itself does better than we: what it gave up does nothing on the server.
    timeout: timeout ?? (store.timeout === undefined ? TIMEOUT : null),
    breaker: breakerOf(breaker, impossible),
    ...(store.shardOf !== undefined && {
      division: {
        partOf: (attributes) => limiter.partOf(attributes),
        breaker: () => breakerOf(breaker, impossible),
      },
    }),
    fallback: new StandIn({ ...standIn, partOf, clock }),
    onEvent,
    onClose: () => unwatch?.(),
    ...surroundings,
  })
  const unwatch = store.watch?.((event) => {
    if (event.type === 'reachable') guard.hint()
    else guard.lateAnswer(event.givenBack)
  })
  return guard
}

function impossible(message: string): never {
  throw new Error(message)
}

// The preset: deadline, breaker and fallback together, with defaults that hold.
import type { Limiter, SyncLimiter } from '../limiter/limiter.ts'
import type { BreakerOptions } from './breaker.ts'
import { fallbackOf } from './fallback.ts'
import { Guard } from './guard.ts'
import {
  breakerOf,
  checkFunction,
  checkNames,
  checkTimeout,
  SURROUNDINGS,
  TIMEOUT,
  wrongFor,
  type DeadlineOptions,
  type EventOptions,
} from './options.ts'

/** What a resilient limiter may be told. */
export interface ResilientOptions extends DeadlineOptions, EventOptions {
  /** Who answers when the limiter cannot, such as a `createLimiter` in memory with part of the quota. */
  readonly fallback: Limiter | SyncLimiter
  readonly breaker?: BreakerOptions
}

/** A limiter that always answers within the timeout: by itself, or by the fallback when it fails or is slow. */
export function resilient(limiter: Limiter, options: ResilientOptions): Limiter {
  const wrong = wrongFor('resilient')
  checkNames(options, ['timeout', 'breaker', 'fallback', 'onEvent'], wrong)
  checkTimeout(options.timeout, wrong)
  checkFunction('onEvent', options.onEvent, wrong)
  if (typeof options.fallback?.check !== 'function')
    wrong('fallback is missing; accepted: a limiter')
  return new Guard(limiter, {
    timeout: options.timeout ?? TIMEOUT,
    breaker: breakerOf(options.breaker, wrong),
    fallback: fallbackOf(options.fallback),
    onEvent: options.onEvent,
    ...SURROUNDINGS,
  })
}

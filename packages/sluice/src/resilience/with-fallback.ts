// A limiter with another that answers when it cannot.
import type { Limiter, SyncLimiter } from '../limiter/limiter.ts'
import { fallbackOf } from './fallback.ts'
import { Guard } from './guard.ts'
import {
  checkFunction,
  checkNames,
  noBreaker,
  SURROUNDINGS,
  wrongFor,
  type EventOptions,
} from './options.ts'

/** Answers by `fallback`, marked as degraded, when the limiter rejects. Mistakes of the caller still reject. */
export function withFallback(
  limiter: Limiter,
  fallback: Limiter | SyncLimiter,
  options: EventOptions = {},
): Limiter {
  const wrong = wrongFor('withFallback')
  checkNames(options, ['onEvent'], wrong)
  checkFunction('onEvent', options.onEvent, wrong)
  return new Guard(limiter, {
    timeout: null,
    breaker: noBreaker(),
    fallback: fallbackOf(fallback),
    onEvent: options.onEvent,
    ...SURROUNDINGS,
  })
}

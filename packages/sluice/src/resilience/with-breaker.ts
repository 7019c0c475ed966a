// A limiter that is left alone while it fails.
import type { Limiter } from '../limiter/limiter.ts'
import type { BreakerOptions } from './breaker.ts'
import { Guard } from './guard.ts'
import { breakerOf, checkFunction, SURROUNDINGS, wrongFor, type EventOptions } from './options.ts'

/**
 * Rejects with `breaker-open` at once while the limiter fails, but for one request now and then that finds out
 * whether it is back. Wants a limiter that answers in time: see `withDeadline`.
 */
export function withBreaker(
  limiter: Limiter,
  options: BreakerOptions & EventOptions = {},
): Limiter {
  const wrong = wrongFor('withBreaker')
  const { onEvent, ...breaker } = options
  checkFunction('onEvent', onEvent, wrong)
  return new Guard(limiter, {
    timeout: null,
    breaker: breakerOf(breaker, wrong),
    fallback: null,
    onEvent,
    ...SURROUNDINGS,
  })
}

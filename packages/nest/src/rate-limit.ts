// The one word of every framework, in Nest.
import type { AnyLimiter, HttpOptions, RateLimitOptions } from 'sluice/http'
import { RateLimitGuard } from './rate-limit-guard.ts'
import type { NestRequest, NestResponse } from './nest-adapter.ts'

/** Limits requests: `app.useGlobalGuards(rateLimit({ limit: '100/min' }))`, or as a provider of `APP_GUARD`. */
export function rateLimit<Q extends NestRequest, S extends NestResponse>(
  limiter: AnyLimiter | RateLimitOptions<Q, S>,
  options?: HttpOptions<Q, S>,
): RateLimitGuard<Q, S> {
  return new RateLimitGuard(limiter, options)
}

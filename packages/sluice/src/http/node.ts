// Rate limiting for node:http, and for whatever takes functions of request, response and next.
import { createRequestGuard, type RateLimitOptions } from './create-request-guard.ts'
import { pass, sendByNode } from './node-response.ts'
import { nodeAdapter, type NodeRequest, type NodeResponse } from './node-adapter.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'

/** Goes on with `next`, or sends the refusal. */
export type Middleware<Q, S> = (request: Q, response: S, next: () => void) => void

/** Limits requests: `rateLimit({ limit: '100/min' })` by address, `rateLimit(limiter, options)` by a policy. */
export function rateLimit<Q extends NodeRequest, S extends NodeResponse>(
  limiter: AnyLimiter | RateLimitOptions<Q, S>,
  options?: HttpOptions<Q, S>,
): Middleware<Q, S> {
  return middleware(nodeAdapter, limiter, options)
}

/** The middleware over a adapter of one's own. */
export function middleware<Q extends NodeRequest, S extends NodeResponse>(
  adapter: FrameworkAdapter<Q, S>,
  limiter: AnyLimiter | RateLimitOptions<Q, S>,
  options?: HttpOptions<Q, S>,
): Middleware<Q, S> {
  const guard = createRequestGuard(adapter, limiter, options)
  return (request, response, next) => pass(guard, request, response, response, sendByNode, next)
}

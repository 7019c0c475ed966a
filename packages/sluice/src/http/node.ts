// Rate limiting for node:http, and for whatever takes functions of request, response and next.
import { createGuard, type RateLimitOptions } from './create-guard.ts'
import { pass, sendByNode } from './node-flow.ts'
import { nodePort, type NodeRequest, type NodeResponse } from './node-port.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'
import type { Port } from './port.ts'

/** Goes on with `next`, or sends the refusal. */
export type Middleware<Q, S> = (request: Q, response: S, next: () => void) => void

/** Limits requests: `rateLimit({ limit: '100/min' })` by address, `rateLimit(limiter, options)` by a policy. */
export function rateLimit<Q extends NodeRequest, S extends NodeResponse>(
  limiter: AnyLimiter | RateLimitOptions<Q, S>,
  options?: HttpOptions<Q, S>,
): Middleware<Q, S> {
  return middleware(nodePort, limiter, options)
}

/** The middleware over a port of one's own. */
export function middleware<Q extends NodeRequest, S extends NodeResponse>(
  port: Port<Q, S>,
  limiter: AnyLimiter | RateLimitOptions<Q, S>,
  options?: HttpOptions<Q, S>,
): Middleware<Q, S> {
  const guard = createGuard(port, limiter, options)
  return (request, response, next) => pass(guard, request, response, response, sendByNode, next)
}

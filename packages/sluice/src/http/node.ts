// Rate limiting for node:http, and for everything that takes functions of request, response and next.
import { createRequestGuard, type RateLimitOptions } from './create-request-guard.ts'
import { nodeAdapter, type NodeRequest, type NodeResponse } from './node-adapter.ts'
import { middlewareOf, sendByNode, type Next, type NodeFlow } from './node-middleware.ts'
import type { AnyBudget } from './held-requests.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'

export { PRIORITIES, type Priority, type PriorityOptions } from './priority.ts'
export { shed, type Shedder, type ShedLoad, type ShedOptions, type ShedResponse } from './shed.ts'

/**
 * Goes on with `next`, or sends the refusal.
 *
 * @example
 * ```ts
 * const limit: Middleware<IncomingMessage, ServerResponse> = rateLimit({ limit: '100/min' })
 * ```
 */
export type Middleware<Q, S> = (request: Q, response: S, next: Next) => void

/**
 * Limits requests: `rateLimit({ limit: '100/min' })` by address, `rateLimit(limiter, options)` by a policy. `next` is
 * never called with an error: handlers that ignore it would go on. Failures are answered with 500.
 *
 * @example
 * ```ts
 * const limit = rateLimit({ limit: '100/min' })
 * createServer((request, response) => limit(request, response, () => response.end('ok')))
 * ```
 */
export function rateLimit<Q extends NodeRequest, S extends NodeResponse>(
  limiter: AnyLimiter | AnyBudget | RateLimitOptions<Q, S>,
  options?: HttpOptions<Q, S>,
): Middleware<Q, S> {
  return middlewareOf(createRequestGuard<Q, S>(nodeAdapter, limiter, options), nodeFlow)
}

const nodeFlow: NodeFlow<NodeResponse> = { raw: (response) => response, send: sendByNode }

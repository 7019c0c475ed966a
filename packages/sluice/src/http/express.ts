// Rate limiting for Express 5 and 4.
import { createRequestGuard, type RateLimitOptions } from './create-request-guard.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import { frameworkTrustsAll } from './framework-trust.ts'
import type { Middleware } from './node.ts'
import { nodeAdapter, type NodeRequest, type NodeResponse } from './node-adapter.ts'
import { middlewareOf, sendByNode, type NodeFlow } from './node-middleware.ts'
import type { AnyBudget } from './held-requests.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'

/**
 * What is used of Express's `Request`. For the rest, write its type: `user: (request: Request) => …`.
 *
 * @example
 * ```ts
 * const user = (request: ExpressRequest) => request.headers['x-user']?.toString()
 * app.use(rateLimit({ limit: '100/min', user }))
 * ```
 */
export interface ExpressRequest extends NodeRequest {
  readonly baseUrl: string
  readonly originalUrl: string
  /** The client's address by Express's setting `trust proxy`. */
  readonly ip?: string | undefined
  readonly route?: { readonly path: unknown } | undefined
}

/**
 * Limits requests: `app.use(rateLimit({ limit: '100/min' }))`. The route is known to middleware of the route
 * itself, `app.get('/orders/:id', rateLimit(limiter), …)`; before that, declare routes. With `address: 'express'`,
 * Express's setting `trust proxy` finds the address. Errors go to `next`.
 *
 * @example
 * ```ts
 * app.use(rateLimit({ limit: '100/min', address: 'express' }))
 * ```
 */
export function rateLimit<Q extends ExpressRequest, S extends NodeResponse>(
  limiter: AnyLimiter | AnyBudget | RateLimitOptions<Q, S>,
  options?: HttpOptions<Q, S>,
): Middleware<Q, S> {
  return middlewareOf(createRequestGuard<Q, S>(expressAdapter, limiter, options), expressFlow)
}

const expressFlow: NodeFlow<NodeResponse> = {
  raw: (response) => response,
  send: sendByNode,
  takesErrors: true,
}

const expressAdapter: FrameworkAdapter<ExpressRequest, NodeResponse> = {
  ...nodeAdapter,
  routesAsSent: true,
  addressBy: { express: ({ ip }) => ip },
  trustsAll: frameworkTrustsAll,
  path: (request) => request.originalUrl,
  mount: (request) => request.baseUrl,
  route: ({ route }) =>
    route === undefined
      ? undefined
      : Array.isArray(route.path)
        ? route.path.join('|')
        : String(route.path),
}

// Rate limiting for Express 5 and 4.
import type { RateLimitOptions } from './create-request-guard.ts'
import { middleware, type Middleware } from './node.ts'
import { nodeAdapter, type NodeRequest, type NodeResponse } from './node-adapter.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'

/** What is used of Express's `Request`. For the rest, write its type: `user: (request: Request) => …`. */
export interface ExpressRequest extends NodeRequest {
  readonly baseUrl: string
  readonly originalUrl: string
  readonly route?: { readonly path: unknown } | undefined
}

/**
 * Limits requests: `app.use(rateLimit({ limit: '100/min' }))`. The route is known to middleware of the route
 * itself, `app.get('/orders/:id', rateLimit(limiter), …)`; before that, declare routes.
 */
export function rateLimit<Q extends ExpressRequest, S extends NodeResponse>(
  limiter: AnyLimiter | RateLimitOptions<Q, S>,
  options?: HttpOptions<Q, S>,
): Middleware<Q, S> {
  return middleware(expressPort, limiter, options)
}

const expressPort: FrameworkAdapter<ExpressRequest, NodeResponse> = {
  ...nodeAdapter,
  routesAsSent: true,
  path: (request) => request.originalUrl,
  mount: (request) => request.baseUrl,
  route: ({ route }) =>
    route === undefined
      ? undefined
      : Array.isArray(route.path)
        ? route.path.join('|')
        : String(route.path),
}

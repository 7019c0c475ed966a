// Rate limiting for Koa, with or without its router.
import type { Admission } from './admission.ts'
import { createRequestGuard, type RateLimitOptions } from './create-request-guard.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import { holdUntilClosed } from './hold.ts'
import { isPromise } from '../stores/store.ts'
import { nodeAdapter, readingNode, type NodeRequest, type NodeResponse } from './node-adapter.ts'
import type { AnyBudget } from './held-requests.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'

/**
 * What is used of Koa's context. For the rest, write its type: `user: (context: Context) => …`.
 *
 * @example
 * ```ts
 * const user = (context: KoaContext) => context.get('x-user')
 * app.use(rateLimit({ limit: '100/min', user }))
 * ```
 */
export interface KoaContext {
  readonly req: NodeRequest
  readonly res: NodeResponse
  readonly method: string
  readonly path: string
  readonly originalUrl: string
  /** The client's address by Koa's setting `proxy`. */
  readonly ip?: string | undefined
  status: number
  body: unknown
  get(name: string): string
  set(name: string, value: string): unknown
}

type Next = () => Promise<unknown>

/**
 * Limits requests: `app.use(rateLimit({ limit: '100/min' }))`. The route is known to middleware of the router. With
 * `address: 'koa'`, Koa's setting `proxy` finds the address. Errors are thrown, for Koa to answer.
 *
 * @example
 * ```ts
 * app.use(rateLimit({ limit: '100/min' }))
 * ```
 */
export function rateLimit<C extends KoaContext>(
  limiter: AnyLimiter | AnyBudget | RateLimitOptions<C, C>,
  options?: HttpOptions<C, C>,
): (context: C, next: Next) => Promise<unknown> {
  const guard = createRequestGuard<C, C>(koaAdapter, limiter, options)
  return (context, next) => {
    const admission = guard.enter(context, context)
    if (isPromise(admission))
      return admission.then((admission) => proceed(admission, context, next))
    return proceed(admission, context, next)
  }

  function proceed(admission: Admission, context: C, next: Next): Promise<unknown> {
    if (admission.refusal !== null) return refuse(admission, context)
    const { delay } = admission
    const { res } = context
    guard.watch(admission, res, context, context)
    const going =
      delay === 0
        ? next()
        : new Promise<unknown>((resolve) =>
            holdUntilClosed(
              delay,
              res,
              () => resolve(next()),
              () => resolve(undefined),
            ),
          )
    return going.then(undefined, (error: unknown) => throwWithFields(context, error))
  }

  async function refuse(admission: Admission, context: C): Promise<void> {
    const action = await guard.refuse(admission, context, context)
    if (action.type === 'handled') return
    if (action.type === 'error') throwWithFields(context, action.error)
    // The application has answered by itself: 404 without a body is Koa's beginning.
    if (context.status !== 404 || (context.body !== undefined && context.body !== null)) return
    context.status = action.reply.status
    context.body = action.reply.body
    for (const [name, value] of action.reply.fields) context.set(name, value)
  }

  /** Koa removes all fields when it answers an error, except those that the error carries. */
  function throwWithFields(context: C, error: unknown): never {
    if (typeof error === 'object' && error !== null && Object.isExtensible(error)) {
      const carrier = error as { headers?: Record<string, string> }
      // Several requests may share one error object, which then has the fields of another request.
      carrier.headers = { ...carrier.headers, ...guard.fieldsIn(context) }
    }
    throw error
  }
}

const koaAdapter: FrameworkAdapter<KoaContext, KoaContext> = {
  ...readingNode(({ req }) => req),
  path: ({ originalUrl }) => originalUrl,
  route: matchedRoute,
  routesLate: true,
  routesAsSent: true,
  addressBy: { koa: ({ ip }) => ip },
  trustsAll: (context) => {
    const { app } = context as { readonly app?: { proxy?: unknown; maxIpsCount?: unknown } }
    // Without a maximum Koa takes the first entry, which clients write.
    return app?.proxy === true && !app.maxIpsCount
  },
  get: ({ res }, name) => nodeAdapter.get(res, name),
  set: ({ res }, name, value) => nodeAdapter.set(res, name, value),
}

/** What the router leaves on the context. */
interface Matched {
  readonly matched?: readonly { readonly path: unknown; readonly methods: readonly string[] }[]
  readonly _matchedRoute?: unknown
}

/** The template of the route, which is known within the router. `_matchedRoute` alone may be its middleware's. */
function matchedRoute(context: KoaContext): string | undefined {
  const { matched, _matchedRoute } = context as Matched
  const method = nodeAdapter.method(context.req)
  const route = matched?.findLast(({ methods }) => methods.includes(method))
  return (route === undefined ? _matchedRoute : route.path)?.toString()
}

// Rate limiting for Hono, on any runtime; on Node, through Node's own objects.
import type { Admission } from './admission.ts'
import { createRequestGuard, type RateLimitOptions } from './create-request-guard.ts'
import {
  clientClosedResponse,
  nodeObjectsOf,
  pathOf,
  peerOf,
  responseOf,
} from './fetch-platform.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import { holdUntilAborted } from './hold.ts'
import { onResponseEnd } from './response-end.ts'
import { countHeaders } from './identity.ts'
import { isPromise } from '../stores/store.ts'
import { nodeAdapter } from './node-adapter.ts'
import type { AnyBudget } from './held-requests.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'

/**
 * What is used of Hono's context. For the rest, write its type: `user: (context: Context) => …`.
 *
 * @example
 * ```ts
 * const user = (context: HonoContext) => context.req.header('x-user')
 * app.use(rateLimit({ limit: '100/min', user }))
 * ```
 */
export interface HonoContext {
  readonly req: {
    readonly raw: Request
    readonly method: string
    readonly path: string
    readonly matchedRoutes: readonly { readonly method: string; readonly path: string }[]
    header(name: string): string | undefined
  }
  readonly env: unknown
  res: Response
  header(name: string, value: string): void
}

type Next = () => Promise<void>

/**
 * Limits requests: `app.use(rateLimit({ limit: '100/min' }))`. Errors are thrown, for `app.onError` to answer.
 *
 * @example
 * ```ts
 * app.use(rateLimit({ limit: '100/min' }))
 * ```
 */
export function rateLimit<C extends HonoContext>(
  limiter: AnyLimiter | AnyBudget | RateLimitOptions<C, C>,
  options?: HttpOptions<C, C>,
): (context: C, next: Next) => Promise<Response | void> {
  const guard = createRequestGuard<C, C>(honoAdapter, limiter, options)
  return (context, next) => {
    // On Node the fields go straight to its response: Hono's own costs several times as much.
    const isOnNode = nodeObjectsOf(context.env) !== undefined
    const admission = guard.enter(context, isOnNode ? context : null)
    if (isPromise(admission))
      return admission.then((admission) => proceed(admission, context, next, isOnNode))
    const isPlain =
      isOnNode && !guard.hasAfter && admission.refusal === null && admission.delay === 0
    return isPlain ? next() : proceed(admission, context, next, isOnNode)
  }

  async function proceed(
    admission: Admission,
    context: C,
    next: Next,
    isWritten: boolean,
  ): Promise<Response | void> {
    if (admission.refusal !== null) return refuse(admission, context, isWritten)
    const { raw } = context.req
    if (admission.delay > 0 && !(await holdUntilAborted(admission.delay, raw.signal))) {
      guard.unanswered(admission)
      return clientClosedResponse()
    }
    const outgoing = guard.holds ? nodeObjectsOf(context.env)?.outgoing : undefined
    if (outgoing !== undefined) guard.watch(admission, outgoing, context, context)
    await next()
    if (!isWritten) guard.write(admission, context)
    if (!guard.hasAfter || outgoing !== undefined) return
    const answered = (): void => guard.answered(admission, context.res.status, context, context)
    const over = onResponseEnd(guard, admission, raw, context.res, answered)
    if (over !== context.res) context.res = over
  }

  async function refuse(admission: Admission, context: C, isWritten: boolean): Promise<Response> {
    const action = await guard.refuse(admission, context, context)
    if (action.type === 'error') throw action.error
    if (action.type !== 'handled')
      context.res = action.type === 'response' ? action.response : responseOf(action.reply)
    if (!isWritten) guard.write(admission, context)
    return context.res
  }
}

const honoAdapter: FrameworkAdapter<HonoContext, HonoContext> = {
  peerAddress: ({ req, env }) => peerOf(req.raw, env),
  header({ req, env }, name) {
    const node = nodeObjectsOf(env)
    return node === undefined ? req.header(name) : nodeAdapter.header(node.incoming, name)
  },
  fieldLines({ req, env }, name) {
    const node = nodeObjectsOf(env)
    return node === undefined
      ? countHeaders(req.raw.headers, name)
      : nodeAdapter.fieldLines!(node.incoming, name)
  },
  method: ({ req }) => req.method,
  path: ({ req }) => pathOf(req.raw.url),
  // Middleware is among the matched routes as `ALL` of a path that ends in a star.
  route: ({ req }) =>
    req.matchedRoutes.findLast(({ method, path }) => method !== 'ALL' || !path.endsWith('*'))?.path,
  get(context, name) {
    const node = nodeObjectsOf(context.env)
    // Reading `res` creates a whole response, and takes Hono off its fast path.
    return node === undefined
      ? (context.res.headers.get(name) ?? undefined)
      : nodeAdapter.get(node.outgoing, name)
  },
  set(context, name, value) {
    const node = nodeObjectsOf(context.env)
    if (node === undefined) context.header(name, value)
    else nodeAdapter.set(node.outgoing, name, value)
  },
}

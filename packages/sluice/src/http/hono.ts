// Rate limiting for Hono, on any runtime.
import { createRequestGuard, type RateLimitOptions } from './create-request-guard.ts'
import { honoAdapter, type HonoContext } from './hono-port.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'
import type { Admission } from './admission.ts'
import { clientClosedResponse, held, nodeBehind, responseOf } from './fetch-platform.ts'
import { isPromise } from '../stores/store.ts'

type Next = () => Promise<void>

/** Limits requests: `app.use(rateLimit({ limit: '100/min' }))`. */
export function rateLimit<C extends HonoContext>(
  limiter: AnyLimiter | RateLimitOptions<C, C>,
  options?: HttpOptions<C, C>,
): (context: C, next: Next) => Promise<Response | void> {
  const guard = createRequestGuard<C, C>(honoAdapter, limiter, options)
  return (context, next) => {
    // On Node the fields go straight to its response: Hono's own costs several times as much.
    const isOnNode = nodeBehind(context.env) !== undefined
    const admission = guard.enter(context, isOnNode ? context : null)
    if (isPromise(admission))
      return admission.then((admission) => go(admission, context, next, isOnNode))
    const isPlain =
      isOnNode && !guard.hasAfter && admission.refusal === null && admission.delay === 0
    return isPlain ? next() : go(admission, context, next, isOnNode)
  }
  async function go(
    admission: Admission,
    context: C,
    next: Next,
    isWritten: boolean,
  ): Promise<Response | void> {
    const { refusal, delay } = admission
    const { signal } = context.req.raw
    if (refusal !== null) context.res = responseOf(refusal)
    else {
      if (delay > 0 && !(await held(delay, signal))) return clientClosedResponse()
      await next()
      if (guard.hasAfter && !signal.aborted)
        guard.answered(admission, context.res.status, context, context)
    }
    if (!isWritten) guard.write(admission, context)
    return refusal === null ? undefined : context.res
  }
}

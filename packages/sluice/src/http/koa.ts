// Rate limiting for Koa, with or without its router.
import { createRequestGuard, type RateLimitOptions } from './create-request-guard.ts'
import { koaAdapter, throwWith, type KoaContext } from './koa-port.ts'
import { holdUntilClosed, onAnswered } from './node-response.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'
import type { Admission } from './admission.ts'
import { isPromise } from '../stores/store.ts'

type Next = () => Promise<unknown>

/** Limits requests: `app.use(rateLimit({ limit: '100/min' }))`. The route is known to middleware of the router. */
export function rateLimit<C extends KoaContext>(
  limiter: AnyLimiter | RateLimitOptions<C, C>,
  options?: HttpOptions<C, C>,
): (context: C, next: Next) => Promise<unknown> {
  const guard = createRequestGuard<C, C>(koaAdapter, limiter, options)
  return (context, next) => {
    const admission = guard.enter(context, context)
    if (isPromise(admission)) return admission.then((admission) => go(admission, context, next))
    return go(admission, context, next)
  }
  function go(admission: Admission, context: C, next: Next): Promise<unknown> {
    const { refusal, delay } = admission
    const { res } = context
    if (refusal !== null) {
      context.status = refusal.status
      context.body = refusal.body
      for (const [name, value] of refusal.fields) context.set(name, value)
      return Promise.resolve()
    }
    if (guard.hasAfter)
      onAnswered(res, () => guard.answered(admission, res.statusCode, context, context))
    // Koa takes all fields away when it answers an error, except those that the error brings.
    const fail = (error: unknown): never => throwWith(guard.fieldsIn(context), error)
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
    return going.then(undefined, fail)
  }
}

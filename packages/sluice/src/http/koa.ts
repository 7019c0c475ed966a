// Rate limiting for Koa, with or without its router.
import { createGuard, type RateLimitOptions } from './create-guard.ts'
import { koaPort, throwWith, type KoaContext } from './koa-port.ts'
import { holdUntilClosed, onAnswered } from './node-flow.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'
import type { Passage } from './passage.ts'
import { isPromise } from './subject.ts'

type Next = () => Promise<unknown>

/** Limits requests: `app.use(rateLimit({ limit: '100/min' }))`. The route is known to middleware of the router. */
export function rateLimit<C extends KoaContext>(
  limiter: AnyLimiter | RateLimitOptions<C, C>,
  options?: HttpOptions<C, C>,
): (context: C, next: Next) => Promise<unknown> {
  const guard = createGuard<C, C>(koaPort, limiter, options)
  return (context, next) => {
    const passage = guard.enter(context, context)
    if (isPromise(passage)) return passage.then((passage) => go(passage, context, next))
    return go(passage, context, next)
  }
  function go(passage: Passage, context: C, next: Next): Promise<unknown> {
    const { refusal, delay } = passage
    const { res } = context
    if (refusal !== null) {
      context.status = refusal.status
      context.body = refusal.body
      for (const [name, value] of refusal.fields) context.set(name, value)
      return Promise.resolve()
    }
    if (guard.hasAfter)
      onAnswered(res, () => guard.answered(passage, res.statusCode, context, context))
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

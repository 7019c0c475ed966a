// Rate limiting for Hono, on any runtime.
import { createGuard, type RateLimitOptions } from './create-guard.ts'
import { honoPort, type HonoContext } from './hono-port.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'
import type { Passage } from './passage.ts'
import { gone, held, nodeBehind, responseOf } from './platform.ts'
import { isPromise } from './subject.ts'

type Next = () => Promise<void>

/** Limits requests: `app.use(rateLimit({ limit: '100/min' }))`. */
export function rateLimit<C extends HonoContext>(
  limiter: AnyLimiter | RateLimitOptions<C, C>,
  options?: HttpOptions<C, C>,
): (context: C, next: Next) => Promise<Response | void> {
  const guard = createGuard<C, C>(honoPort, limiter, options)
  return (context, next) => {
    // On Node the fields go straight to its response: Hono's own costs several times as much.
    const isOnNode = nodeBehind(context.env) !== undefined
    const passage = guard.enter(context, isOnNode ? context : null)
    if (isPromise(passage)) return passage.then((passage) => go(passage, context, next, isOnNode))
    const isPlain = isOnNode && !guard.hasAfter && passage.refusal === null && passage.delay === 0
    return isPlain ? next() : go(passage, context, next, isOnNode)
  }
  async function go(
    passage: Passage,
    context: C,
    next: Next,
    isWritten: boolean,
  ): Promise<Response | void> {
    const { refusal, delay } = passage
    const { signal } = context.req.raw
    if (refusal !== null) context.res = responseOf(refusal)
    else {
      if (delay > 0 && !(await held(delay, signal))) return gone()
      await next()
      if (guard.hasAfter && !signal.aborted)
        guard.answered(passage, context.res.status, context, context)
    }
    if (!isWritten) guard.write(passage, context)
    return refusal === null ? undefined : context.res
  }
}

// Rate limiting for Koa, with or without its router.
import { createGuard, type RateLimitOptions } from './create-guard.ts'
import {
  holdUntilClosed,
  nodePort,
  onAnswered,
  type NodeRequest,
  type NodeResponse,
} from './node-port.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'
import type { Passage } from './passage.ts'
import type { Port } from './port.ts'
import { isPromise } from './subject.ts'

/** What is used of Koa's context. */
export interface KoaContext {
  readonly req: NodeRequest
  readonly res: NodeResponse
  readonly originalUrl: string
  status: number
  body: unknown
  set(name: string, value: string): unknown
}

/** Limits requests: `app.use(rateLimit({ limit: '100/min' }))`. The route is known to middleware of the router. */
export function rateLimit<C extends KoaContext>(
  limiter: AnyLimiter | RateLimitOptions<C, C>,
  options?: HttpOptions<C, C>,
): (context: C, next: () => Promise<unknown>) => Promise<unknown> {
  const guard = createGuard<C, C>(koaPort, limiter, options)
  return (context, next) => {
    const passage = guard.enter(context, context)
    return isPromise(passage)
      ? passage.then((passage) => go(passage, context, next))
      : go(passage, context, next)
  }
  function go(passage: Passage, context: C, next: () => Promise<unknown>): Promise<unknown> {
    const { refusal, delay } = passage
    if (refusal !== null) {
      context.status = refusal.status
      context.body = refusal.body
      for (const [name, value] of refusal.fields) context.set(name, value)
      return Promise.resolve()
    }
    const { res } = context
    if (guard.hasAfter)
      onAnswered(res, () => guard.answered(passage, res.statusCode, context, context))
    const going =
      delay === 0
        ? next()
        : new Promise<unknown>((resolve) => holdUntilClosed(delay, res, () => resolve(next())))
    // Koa takes all fields away when it answers an error, except those that the error brings.
    return going.then(undefined, (error: unknown) => throwWith(guard.fieldsIn(context), error))
  }
}

function throwWith(fields: Readonly<Record<string, string>>, error: unknown): never {
  if (typeof error === 'object' && error !== null && Object.isExtensible(error)) {
    const brings = error as { headers?: Record<string, string> }
    brings.headers = { ...fields, ...brings.headers }
  }
  throw error
}

const koaPort: Port<KoaContext, KoaContext> = {
  peer: ({ req }) => nodePort.peer(req),
  header: ({ req }, name) => nodePort.header(req, name),
  method: ({ req }) => nodePort.method(req),
  path: ({ originalUrl }) => originalUrl,
  route: (context) => (context as { _matchedRoute?: unknown })._matchedRoute?.toString(),
  routesLate: true,
  get: ({ res }, name) => nodePort.get(res, name),
  set: ({ res }, name, value) => nodePort.set(res, name, value),
}

// Rate limiting for handlers from Request to Response: Workers, Deno, Bun, Next and their like.
import type { MaybePromise } from '../stores/store.ts'
import { createGuard, type RateLimitOptions } from './create-guard.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'
import type { Passage } from './passage.ts'
import { fresh, gone, held, pathOf, peerOf, responseOf } from './platform.ts'
import type { Port } from './port.ts'

/** A fetch handler; the rest is what the runtime adds. */
export type Handler<A extends unknown[]> = (request: Request, ...rest: A) => MaybePromise<Response>

/** Limits a handler: `rateLimit({ limit: '100/min' })(handler)`. Where the runtime tells no address, say `address`. */
export function rateLimit(
  limiter: AnyLimiter | RateLimitOptions<Request, Response>,
  options?: HttpOptions<Request, Response>,
): <A extends unknown[]>(
  handler: Handler<A>,
) => (request: Request, ...rest: A) => Promise<Response> {
  const guard = createGuard(fetchPort, limiter, options)
  return (handler) =>
    async (request, ...rest) => {
      if (typeof rest[0] === 'object' && rest[0] !== null) platforms.set(request, rest[0])
      const passage = await guard.enter(request, null)
      const { refusal, delay } = passage
      if (refusal !== null) return withFields(passage, request, responseOf(refusal))
      if (delay > 0 && !(await held(delay, request.signal))) return gone()
      const response = withFields(passage, request, await handler(request, ...rest))
      if (guard.hasAfter && !request.signal.aborted)
        guard.answered(passage, response.status, request, response)
      return response
    }
  function withFields(passage: Passage, request: Request, response: Response): Response {
    // An error of the network, or an upgrade: neither is an answer that could carry fields.
    if (response.status < 200) return response
    try {
      const own = fresh(request, response, guard.fieldNames)
      guard.write(passage, own)
      return own
    } catch {
      // A response that was fetched or redirects takes no fields; its copy does.
      const copy = new Response(response.body, response)
      guard.write(passage, copy)
      return copy
    }
  }
}

const platforms = new WeakMap<Request, object>()

const fetchPort: Port<Request, Response> = {
  peer: (request) => peerOf(request, platforms.get(request)),
  header: (request, name) => request.headers.get(name) ?? undefined,
  method: (request) => request.method,
  path: (request) => pathOf(request.url),
  route: () => undefined,
  routesLate: true,
  routesAsSent: true,
  get: (response, name) => response.headers.get(name) ?? undefined,
  set: (response, name, value) => response.headers.set(name, value),
}

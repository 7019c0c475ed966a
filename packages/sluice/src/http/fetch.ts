// Rate limiting for handlers from Request to Response: Workers, Deno, Bun, Next and their like.
import type { MaybePromise } from '../stores/store.ts'
import { createRequestGuard, type RateLimitOptions } from './create-request-guard.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'
import type { Admission } from './admission.ts'
import {
  writableResponse,
  clientClosedResponse,
  held,
  pathOf,
  peerOf,
  responseOf,
} from './fetch-platform.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'

/** A fetch handler; the rest is what the runtime adds. */
export type Handler<A extends unknown[]> = (request: Request, ...rest: A) => MaybePromise<Response>

/** Limits a handler: `rateLimit({ limit: '100/min' })(handler)`. Where the runtime tells no address, say `address`. */
export function rateLimit(
  limiter: AnyLimiter | RateLimitOptions<Request, Response>,
  options?: HttpOptions<Request, Response>,
): <A extends unknown[]>(
  handler: Handler<A>,
) => (request: Request, ...rest: A) => Promise<Response> {
  const guard = createRequestGuard(fetchPort, limiter, options)
  return (handler) =>
    async (request, ...rest) => {
      if (typeof rest[0] === 'object' && rest[0] !== null) platforms.set(request, rest[0])
      const admission = await guard.enter(request, null)
      const { refusal, delay } = admission
      if (refusal !== null) return withFields(admission, request, responseOf(refusal))
      if (delay > 0 && !(await held(delay, request.signal))) return clientClosedResponse()
      const response = withFields(admission, request, await handler(request, ...rest))
      if (guard.hasAfter && !request.signal.aborted)
        guard.answered(admission, response.status, request, response)
      return response
    }
  function withFields(admission: Admission, request: Request, response: Response): Response {
    // An error of the network, or an upgrade: neither is an answer that could carry fields.
    if (response.status < 200) return response
    try {
      const own = writableResponse(request, response, guard.fieldNames)
      guard.write(admission, own)
      return own
    } catch {
      // A response that was fetched or redirects takes no fields; its copy does.
      const copy = new Response(response.body, response)
      guard.write(admission, copy)
      return copy
    }
  }
}

const platforms = new WeakMap<Request, object>()

const fetchPort: FrameworkAdapter<Request, Response> = {
  peerAddress: (request) => peerOf(request, platforms.get(request)),
  header: (request, name) => request.headers.get(name) ?? undefined,
  method: (request) => request.method,
  path: (request) => pathOf(request.url),
  route: () => undefined,
  routesLate: true,
  routesAsSent: true,
  get: (response, name) => response.headers.get(name) ?? undefined,
  set: (response, name, value) => response.headers.set(name, value),
}

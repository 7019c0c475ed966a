// Rate limiting for handlers from Request to Response: Workers, Deno, Bun, Next and their like.
import type { MaybePromise } from '../stores/store.ts'
import type { Admission } from './admission.ts'
import { createRequestGuard, type RateLimitOptions } from './create-request-guard.ts'
import {
  clientClosedResponse,
  pathOf,
  peerOf,
  responseOf,
  writableResponse,
} from './fetch-platform.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import { holdUntilAborted } from './hold.ts'
import { onResponseEnd } from './response-end.ts'
import { countHeaders } from './identity.ts'
import type { AnyBudget } from './held-requests.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'

/**
 * A fetch handler; the rest is what the runtime adds.
 *
 * @example
 * ```ts
 * const handler: Handler<[]> = () => new Response('ok')
 * const address = (request: Request) => request.headers.get('cf-connecting-ip')
 * const limited = rateLimit({ limit: '100/min', address })(handler)
 * ```
 */
export type Handler<A extends unknown[]> = (request: Request, ...rest: A) => MaybePromise<Response>

/**
 * Limits a handler: `rateLimit({ limit: '100/min' })(handler)`. Where the runtime gives no peer address, set
 * `address`. `onRefused` receives the reply as a Response, and may return another.
 *
 * @example
 * ```ts
 * const limit = rateLimit({ limit: '100/min', address: (request) => request.headers.get('cf-connecting-ip') })
 * export default { fetch: limit((request) => new Response('ok')) }
 * ```
 */
export function rateLimit(
  limiter: AnyLimiter | AnyBudget | RateLimitOptions<Request, Response>,
  options?: HttpOptions<Request, Response>,
): <A extends unknown[]>(
  handler: Handler<A>,
) => (request: Request, ...rest: A) => Promise<Response> {
  const guard = createRequestGuard(fetchAdapter, limiter, options)
  return (handler) =>
    async (request, ...rest) => {
      if (typeof rest[0] === 'object' && rest[0] !== null) platforms.set(request, rest[0])
      const admission = await guard.enter(request, null)
      if (admission.refusal !== null) return refuse(admission, request)
      if (admission.delay > 0 && !(await holdUntilAborted(admission.delay, request.signal))) {
        guard.unanswered(admission)
        return clientClosedResponse()
      }
      try {
        const response = withFields(admission, request, await handler(request, ...rest))
        return guard.hasAfter ? watched(admission, request, response) : response
      } catch (error) {
        guard.unanswered(admission)
        throw error
      }
    }

  /** The response, whose end is reported to the guard: that of its head, or of its body if the request holds units until then. */
  function watched(admission: Admission, request: Request, response: Response): Response {
    const answered = (): void => guard.answered(admission, response.status, request, response)
    return onResponseEnd(guard, admission, request, response, answered)
  }

  async function refuse(admission: Admission, request: Request): Promise<Response> {
    const prepared = responseOf(admission.refusal!)
    const action = await guard.refuse(admission, request, prepared)
    const response =
      action.type === 'handled'
        ? prepared
        : action.type === 'response'
          ? action.response
          : responseOf(action.reply)
    return withFields(admission, request, response)
  }

  function withFields(admission: Admission, request: Request, response: Response): Response {
    // A network error or an upgrade is no answer that could carry fields.
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

/** What the runtime handed to the handler besides each request. */
const platforms = new WeakMap<Request, object>()

const fetchAdapter: FrameworkAdapter<Request, Response> = {
  peerAddress: (request) => peerOf(request, platforms.get(request)),
  header: (request, name) => request.headers.get(name) ?? undefined,
  fieldLines: (request, name) => countHeaders(request.headers, name),
  method: (request) => request.method,
  path: (request) => pathOf(request.url),
  route: () => undefined,
  routesLate: true,
  // A URL has no dot segments and no backslashes left.
  routesAsSent: true,
  get: (response, name) => response.headers.get(name) ?? undefined,
  set: (response, name, value) => response.headers.set(name, value),
}

// Rate limiting for Fastify 5, as a hook.
import { createRequestGuard, type RateLimitOptions } from './create-request-guard.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import { frameworkTrustsAll } from './framework-trust.ts'
import { fieldString, readingNode, type NodeRequest, type NodeResponse } from './node-adapter.ts'
import { middlewareOf, type NodeFlow } from './node-middleware.ts'
import type { AnyBudget } from './held-requests.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'

/**
 * What is used of Fastify's request. For the rest, write its type: `user: (request: FastifyRequest) => …`.
 *
 * @example
 * ```ts
 * const user = (request: FastifyRequest) => request.headers['x-user']?.toString()
 * app.addHook('onRequest', rateLimit({ limit: '100/min', user }))
 * ```
 */
export interface FastifyRequest {
  readonly raw: NodeRequest
  readonly method: string
  readonly url: string
  readonly headers: NodeRequest['headers']
  /** The client's address by Fastify's option `trustProxy`. */
  readonly ip?: string | undefined
  readonly routeOptions: { readonly url?: string | undefined }
}

/**
 * What is used of Fastify's reply.
 *
 * @example
 * ```ts
 * const isOver = (reply: FastifyReply): boolean => reply.sent
 * ```
 */
export interface FastifyReply {
  readonly raw: NodeResponse
  readonly sent: boolean
  getHeader(name: string): number | string | string[] | undefined
  header(name: string, value: string): unknown
  code(status: number): { send(body: string): unknown }
}

/**
 * A hook such as `onRequest` or `preHandler`.
 *
 * @example
 * ```ts
 * const hook: Hook<FastifyRequest, FastifyReply> = rateLimit({ limit: '100/min' })
 * app.addHook('onRequest', hook)
 * ```
 */
export type Hook<Q, S> = (request: Q, reply: S, done: (error?: Error) => void) => void

/**
 * Limits requests: `app.addHook('onRequest', rateLimit({ limit: '100/min' }))`. Added first, it counts 404s too. With
 * `address: 'fastify'`, Fastify's option `trustProxy` finds the address. Errors go to `done`.
 *
 * @example
 * ```ts
 * app.addHook('onRequest', rateLimit({ limit: '100/min' }))
 * ```
 */
export function rateLimit<
  Q extends FastifyRequest = FastifyRequest,
  S extends FastifyReply = FastifyReply,
>(
  limiter: AnyLimiter | AnyBudget | RateLimitOptions<Q, S>,
  options?: HttpOptions<Q, S>,
  // Where a route takes one hook or a list, its types would make `never` of both.
): Hook<NoInfer<Q>, NoInfer<S>> {
  return middlewareOf(createRequestGuard<Q, S>(fastifyAdapter, limiter, options), fastifyFlow)
}

const fastifyFlow: NodeFlow<FastifyReply> = {
  raw: (reply) => reply.raw,
  send({ status, fields, body }, reply) {
    for (const [name, value] of fields) reply.header(name, value)
    reply.code(status).send(body)
  },
  isAnswered: (reply) => reply.sent || reply.raw.headersSent,
  takesErrors: true,
}

const fastifyAdapter: FrameworkAdapter<FastifyRequest, FastifyReply> = {
  ...readingNode(({ raw }) => raw),
  route: ({ routeOptions }) => routeOptions.url,
  addressBy: { fastify: ({ ip }) => ip },
  trustsAll: frameworkTrustsAll,
  get: (reply, name) => fieldString(reply.getHeader(name)),
  set: (reply, name, value) => void reply.header(name, value),
}

// Rate limiting for Fastify 5, as a hook.
import { createRequestGuard, type RateLimitOptions } from './create-request-guard.ts'
import { pass } from './node-response.ts'
import { nodeAdapter, fieldString, type NodeRequest, type NodeResponse } from './node-adapter.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import type { RefusalReply } from './refusal-reply.ts'

/** What is used of Fastify's request. For the rest, write its type: `user: (request: FastifyRequest) => …`. */
export interface FastifyRequest {
  readonly raw: NodeRequest
  readonly headers: NodeRequest['headers']
  readonly routeOptions: { readonly url?: string | undefined }
}

/** What is used of Fastify's reply. */
export interface FastifyReply {
  readonly raw: NodeResponse
  getHeader(name: string): number | string | string[] | undefined
  header(name: string, value: string): unknown
  code(status: number): { send(body: string): unknown }
}

/** A hook such as `onRequest` or `preHandler`. */
export type Hook<Q, S> = (request: Q, reply: S, done: () => void) => void

/** Limits requests: `app.addHook('onRequest', rateLimit({ limit: '100/min' }))`. Added first, it counts 404s too. */
export function rateLimit<
  Q extends FastifyRequest = FastifyRequest,
  S extends FastifyReply = FastifyReply,
>(
  limiter: AnyLimiter | RateLimitOptions<Q, S>,
  options?: HttpOptions<Q, S>,
  // Where a route takes one hook or a list, its types would make `never` of both.
): Hook<NoInfer<Q>, NoInfer<S>> {
  const guard = createRequestGuard<Q, S>(fastifyPort, limiter, options)
  return (request, reply, done) => pass(guard, request, reply, reply.raw, send, done)
}

function send({ status, fields, body }: RefusalReply, reply: FastifyReply): void {
  for (const [name, value] of fields) reply.header(name, value)
  reply.code(status).send(body)
}

const fastifyPort: FrameworkAdapter<FastifyRequest, FastifyReply> = {
  peerAddress: ({ raw }) => nodeAdapter.peerAddress(raw),
  header: ({ raw }, name) => nodeAdapter.header(raw, name),
  method: ({ raw }) => nodeAdapter.method(raw),
  path: ({ raw }) => nodeAdapter.path(raw),
  route: ({ routeOptions }) => routeOptions.url,
  get: (reply, name) => fieldString(reply.getHeader(name)),
  set: (reply, name, value) => void reply.header(name, value),
}

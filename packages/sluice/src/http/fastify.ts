// Rate limiting for Fastify 5, as a hook.
import { createGuard, type RateLimitOptions } from './create-guard.ts'
import { pass } from './node-flow.ts'
import { nodePort, text, type NodeRequest, type NodeResponse } from './node-port.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'
import type { Port } from './port.ts'
import type { Refusal } from './refusal.ts'

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
  const guard = createGuard<Q, S>(fastifyPort, limiter, options)
  return (request, reply, done) => pass(guard, request, reply, reply.raw, send, done)
}

function send({ status, fields, body }: Refusal, reply: FastifyReply): void {
  for (const [name, value] of fields) reply.header(name, value)
  reply.code(status).send(body)
}

const fastifyPort: Port<FastifyRequest, FastifyReply> = {
  peer: ({ raw }) => nodePort.peer(raw),
  header: ({ raw }, name) => nodePort.header(raw, name),
  method: ({ raw }) => nodePort.method(raw),
  path: ({ raw }) => nodePort.path(raw),
  route: ({ routeOptions }) => routeOptions.url,
  get: (reply, name) => text(reply.getHeader(name)),
  set: (reply, name, value) => void reply.header(name, value),
}

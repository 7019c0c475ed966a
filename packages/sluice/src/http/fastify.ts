// Rate limiting for Fastify 5, as a hook.
import { createGuard, type RateLimitOptions } from './create-guard.ts'
import {
  holdUntilClosed,
  nodePort,
  onAnswered,
  text,
  type NodeRequest,
  type NodeResponse,
} from './node-port.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'
import type { Passage } from './passage.ts'
import type { Port } from './port.ts'
import { isPromise } from './subject.ts'

/** What is used of Fastify's request. */
export interface FastifyRequest {
  readonly raw: NodeRequest
  readonly routeOptions: { readonly url?: string | undefined }
}

/** What is used of Fastify's reply. */
export interface FastifyReply {
  readonly raw: NodeResponse
  readonly sent: boolean
  getHeader(name: string): number | string | string[] | undefined
  header(name: string, value: string): unknown
  code(status: number): { send(body: string): unknown }
}

/** A hook such as `onRequest` or `preHandler`. */
export type Hook<Q, S> = (request: Q, reply: S, done: () => void) => void

/** Limits requests: `app.addHook('onRequest', rateLimit({ limit: '100/min' }))`. Added first, it counts 404s too. */
export function rateLimit<Q extends FastifyRequest, S extends FastifyReply>(
  limiter: AnyLimiter | RateLimitOptions<Q, S>,
  options?: HttpOptions<Q, S>,
): Hook<Q, S> {
  const guard = createGuard<Q, S>(fastifyPort, limiter, options)
  return (request, reply, done) => {
    const passage = guard.enter(request, reply)
    if (isPromise(passage)) void passage.then((passage) => go(passage, request, reply, done))
    else go(passage, request, reply, done)
  }
  function go(passage: Passage, request: Q, reply: S, done: () => void): void {
    const { refusal, delay } = passage
    if (refusal !== null) {
      if (reply.sent) return
      for (const [name, value] of refusal.fields) reply.header(name, value)
      reply.code(refusal.status).send(refusal.body)
      return
    }
    if (guard.hasAfter)
      onAnswered(reply.raw, () => guard.answered(passage, reply.raw.statusCode, request, reply))
    if (delay === 0) done()
    else holdUntilClosed(delay, reply.raw, done)
  }
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

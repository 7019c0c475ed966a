// The guard on Fastify's requests and replies, which Nest hands to guards when Fastify is its platform.
import 'reflect-metadata'
import type { ExecutionContext } from '@nestjs/common'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rateLimit, RateLimitException, type RateLimitGuard } from '@sluice/nest'

class Orders {
  one(): string {
    return 'order'
  }
}

/** What Nest makes of a request for guards. */
const contextOf = (request: FastifyRequest, reply: FastifyReply, type = 'http'): ExecutionContext =>
  ({
    getType: () => type,
    getHandler: () => Reflect.get(Orders.prototype, 'one') as () => string,
    getClass: () => Orders,
    switchToHttp: () => ({ getRequest: () => request, getResponse: () => reply }),
  }) as unknown as ExecutionContext

describe('on Fastify', () => {
  const app = { current: Fastify() }
  const answers = { type: 'http' }

  beforeEach(() => (app.current = Fastify()))
  afterEach(() => app.current.close())

  function limited(guard: RateLimitGuard<FastifyRequest, FastifyReply>): void {
    app.current.addHook('preHandler', async (request, reply) => {
      try {
        await guard.canActivate(contextOf(request, reply, answers.type))
      } catch (error) {
        // Nest's filter answers with the exception's response.
        if (!(error instanceof RateLimitException)) throw error
        await reply.status(error.getStatus()).send(error.getResponse())
      }
    })
    app.current.get('/orders/:id', () => 'order')
  }

  it('writes the fields and refuses, by the template of the route', async () => {
    const rule = { name: 'route', by: ['route', 'ip'], limit: '1/min' } as const
    limited(rateLimit({ policy: { name: 'api', rules: [rule] } }))
    const first = await app.current.inject('/orders/7')
    expect([first.statusCode, first.headers['ratelimit']]).toEqual([200, '"route";r=0;t=60'])
    const second = await app.current.inject('/orders/8')
    expect(second.statusCode).toBe(429)
    expect(second.headers).toMatchObject({
      'retry-after': '60',
      'content-type': expect.stringMatching(/^application\/problem\+json/) as string,
    })
    expect(second.json()).toMatchObject({ 'violated-policies': ['route'] })
  })

  it.each(['ws', 'graphql'])('lets %s go on uncounted, and warns of it once', async (kind) => {
    answers.type = kind
    const warnings: string[] = []
    const onWarning = ({ code, message }: { code: string; message: string }): void =>
      void warnings.push(`${code}: ${message}`)
    limited(rateLimit({ limit: '0/min', onWarning }))
    for (let i = 0; i < 2; i++) expect((await app.current.inject('/orders/7')).statusCode).toBe(200)
    expect(warnings).toEqual([
      expect.stringContaining(`kind-uncounted: requests of the kind ${kind}`),
    ])
    answers.type = 'http'
    expect((await app.current.inject('/orders/7')).statusCode).toBe(429)
  })
})

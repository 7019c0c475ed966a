// Requests handed to handlers without a socket: Hono and fetch on other runtimes, and Fastify's inject.
import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { rateLimit as forFastify } from '../../src/http/fastify.ts'
import { rateLimit as forFetch } from '../../src/http/fetch.ts'
import { decisionOf, settle } from '../../src/http/index.ts'
import type { LimitInput } from '../../src/limit/limit.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { fetchHandler, honoApp } from './adapters.ts'

/** A limiter for which no time passes. */
const frozen = (limit: LimitInput) =>
  createLimiter({ limit, store: memoryStore({ clock: fakeClock(0) }) })

const remaining = (response: { headers: Headers }): string | null =>
  response.headers.get('ratelimit')

describe('Hono without Node', () => {
  it.each<[string, unknown]>([
    ['Deno', { remoteAddr: { hostname: '192.0.2.1' } }],
    ['Bun', { requestIP: () => ({ address: '192.0.2.1' }) }],
  ])('counts by the address that %s tells, on every kind of response', async (_, env) => {
    const app = honoApp([[frozen('4/min')]], [])
    const paths = ['/hello', '/orders/1', '/error', '/nothing', '/hello']
    const answers: [number, string | null][] = []
    for (const path of paths) {
      const response = await app.request(path, {}, env as object)
      answers.push([response.status, remaining(response)])
    }
    expect(answers).toEqual([
      [200, '"default";r=3;t=15'],
      [200, '"default";r=2;t=15'],
      [500, '"default";r=1;t=15'],
      [404, '"default";r=0;t=15'],
      [429, '"default";r=0;t=15'],
    ])
  })
})

describe('fetch handlers without Node', () => {
  it('write the fields also on responses that take none', async () => {
    const limit = forFetch(frozen('9/min'), { address: () => '192.0.2.1' })
    const handler = limit(() => Response.redirect('http://a.example/', 303))
    const response = await handler(new Request('http://b.example/'))
    expect([response.status, response.headers.get('location')]).toEqual([303, 'http://a.example/'])
    expect(remaining(response)).toBe('"default";r=8;t=7')
  })

  it('let go of a held request when its signal ends', async () => {
    const handled: string[] = []
    const limit = { algorithm: 'leaky-bucket', quota: 1, window: '10min', burst: 2 } as const
    const given = { limit, address: () => '192.0.2.1', maxDelay: '1h' } as const
    const handler = fetchHandler([[given]], handled)
    await handler(new Request('http://a.example/hello'))
    const leaving = new AbortController()
    const held = handler(new Request('http://a.example/hello', { signal: leaving.signal }))
    leaving.abort()
    expect((await held).status).toBe(499)
    expect(handled).toEqual(['/hello'])
  })

  it('hand the decision and late charges to the handler', async () => {
    const limiter = createLimiter({ limit: '9/min' })
    const limit = forFetch(limiter, { key: () => 'all' })
    const handler = limit(async (request) => {
      await settle(request, 5)
      return new Response(String(decisionOf(request)?.remaining))
    })
    expect(await (await handler(new Request('http://a.example/'))).text()).toBe('8')
    expect(limiter.peek('all').remaining).toBe(4)
  })
})

describe('Fastify', () => {
  it('answers injected requests like those of sockets', async () => {
    const app = Fastify()
    app.addHook('onRequest', forFastify(frozen('1/min')))
    app.get('/', () => 'ok')
    const answers = [await app.inject('/'), await app.inject('/')]
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 429])
    expect(answers[1]!.headers).toMatchObject({
      'retry-after': '60',
      ratelimit: '"default";r=0;t=60',
    })
  })
})

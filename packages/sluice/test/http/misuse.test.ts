// What applications get wrong about the functions that they give, in every adapter: never a way past the limit.
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { afterEach, describe, expect, it } from 'vitest'
import { rateLimit as forFetch } from '../../src/http/fetch.ts'
import type { HttpOptions, HttpWarning } from '../../src/http/index.ts'
import { settle } from '../../src/http/index.ts'
import { rateLimit as forKoa } from '../../src/http/koa.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import type { LimitInput } from '../../src/limit/limit.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { ADAPTERS, type Service } from './adapters.ts'

const services: Service[] = []
const clock = fakeClock(1_800_000_000_000)
const limiterOf = (limit: LimitInput) => createLimiter({ limit, store: memoryStore({ clock }) })

afterEach(async () => {
  for (const service of services.splice(0)) await service.close()
})

describe.each(ADAPTERS)('$name', (adapter) => {
  const warnings: HttpWarning[] = []
  const messages = (): string[] => warnings.splice(0).map(({ message }) => message)
  const start = async (
    limiter: ReturnType<typeof limiterOf>,
    options: object,
  ): Promise<Service> => {
    const onWarning = (warning: HttpWarning): void => void warnings.push(warning)
    const given = { ...options, onWarning } as unknown as HttpOptions<never, never>
    const service = await adapter.start([[limiter, given]])
    services.push(service)
    return service
  }

  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  it.each<[string, () => unknown]>([
    ['nothing', () => undefined],
    ['a promise', async () => ({ title: 'Slow down' })],
    ['what JSON cannot say', () => circular],
    [
      'an error',
      () => {
        throw new Error('no luck')
      },
    ],
  ])('trap: a refusal is lost when problem gives %s', async (what, problem) => {
    const { url, handled } = await start(limiterOf('1/min'), { problem })
    await fetch(`${url}/hello`)
    const refused = await fetch(`${url}/hello`)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(await refused.json()).toMatchObject({ status: 429, 'violated-policies': ['default'] })
    expect(handled).toEqual(['/hello'])
    expect(messages().map((message) => message.split(':')[0])).toEqual(
      what === 'nothing' ? [] : ['problem failed'],
    )
  })

  it.each<[string, object, RegExp]>([
    [
      'cost gives a promise',
      { cost: async () => 2 },
      /cost returned .*; accepted: a number of units/,
    ],
    [
      'address gives a promise',
      { address: async () => '192.0.2.1' },
      /address returned .*; accepted/,
    ],
    ['address gives a number', { address: () => 7 }, /address returned 7; accepted: a string/],
  ])('trap: %s, and everything goes through', async (_, options, message) => {
    const { url, handled } = await start(limiterOf('9/min'), options)
    expect((await fetch(`${url}/hello`)).status).toBe(500)
    expect(messages()).toEqual([expect.stringMatching(message)])
    expect(handled).toEqual([])
  })

  it('waits for skip when it gives a promise, and answers 500 when that rejects', async () => {
    const skip = async (request: never): Promise<boolean> => {
      if (adapter.header(request, 'x-user') === 'broken') throw new Error('no luck')
      return adapter.header(request, 'x-user') === 'probe'
    }
    const limiter = limiterOf('9/min')
    const { url } = await start(limiter, { key: () => 'all', skip })
    const get = async (user: string) =>
      (await fetch(`${url}/hello`, { headers: { 'x-user': user } })).status
    expect([await get('probe'), await get('ann'), await get('broken')]).toEqual([200, 200, 500])
    expect(limiter.peek('all').remaining).toBe(8)
    expect(messages()).toEqual(['a function given to rateLimit failed: no luck'])
  })

  it.each<[string, () => unknown]>([
    ['a text', () => 'false'],
    ['a number', () => 1],
    ['an object', () => ({})],
    ['a promise of a text', async () => 'yes'],
  ])('trap: skip gives %s, and the limit is off', async (_, skip) => {
    const { url, handled } = await start(limiterOf('1/min'), { key: () => 'all', skip })
    const statuses = [await fetch(`${url}/hello`), await fetch(`${url}/hello`)]
    expect(statuses.map(({ status }) => status)).toEqual([200, 429])
    expect(handled).toEqual(['/hello'])
    expect(messages()).toEqual([
      expect.stringMatching(/^skip returned .* so the request counts; return true/),
    ])
  })

  it.each([undefined, null, false, 0, ''])(
    'counts without a word when skip gives %s',
    async (no) => {
      const { url } = await start(limiterOf('1/min'), { key: () => 'all', skip: () => no })
      expect((await fetch(`${url}/hello`)).status).toBe(200)
      expect((await fetch(`${url}/hello`)).status).toBe(429)
      expect(messages()).toEqual([])
    },
  )

  it('waits for after when it gives a promise', async () => {
    const limiter = limiterOf('100/min')
    const { url } = await start(limiter, { key: () => 'all', after: async () => 5 })
    await (await fetch(`${url}/hello`)).text()
    await expect.poll(() => limiter.peek('all').remaining).toBe(95)
    expect(messages()).toEqual([])
  })

  it.each([-5, Number.NaN, 1.5, '3', Infinity])(
    'trap: after gives %s, and units of others come back, or none ever again',
    async (final) => {
      const limiter = limiterOf('100/min')
      limiter.check('all', 10)
      const { url } = await start(limiter, { key: () => 'all', after: () => final })
      await (await fetch(`${url}/hello`)).text()
      await expect.poll(() => warnings.length).toBe(1)
      expect(messages()[0]).toMatch(/settling failed: .*accepted: a whole number of units/)
      expect(limiter.peek('all').remaining).toBe(89)
    },
  )
})

describe('settling', () => {
  it('twice, or after it failed, is about the whole request, not about the last time', async () => {
    const limiter = limiterOf('100/min')
    const request = new Request('http://host/')
    const options = { key: () => 'all', after: () => 7, onWarning: () => undefined }
    await forFetch(
      limiter,
      options,
    )(async (request) => {
      await settle(request, 4)
      await settle(request, -3)
      return new Response()
    })(request)
    expect(limiter.peek('all').remaining).toBe(93)
    await settle(request, 2)
    await settle(request, 2)
    expect(limiter.peek('all').remaining).toBe(98)
  })
})

describe('fetch handlers', () => {
  const limit = forFetch(limiterOf('100/min'), { key: () => 'all' })

  it('trap: one response for all requests, whose fields grow with each', async () => {
    const nothing = new Response(null, { status: 404 })
    const handler = limit(limit(() => nothing))
    const told: (string | null)[] = []
    for (let i = 0; i < 3; i++) {
      const { headers } = await handler(new Request('http://host/'))
      told.push(headers.get('ratelimit'))
    }
    expect(told).toEqual([99, 98, 97].map((left) => `"default";r=${left};t=1`))
  })

  it('trap: a response that is no answer, and takes no fields, breaks or becomes one', async () => {
    const error = Response.error()
    expect(await limit(() => error)(new Request('http://host/'))).toBe(error)
    const upgrade = Object.defineProperty(new Response(null), 'status', { value: 101 })
    expect(await limit(() => upgrade)(new Request('http://host/'))).toBe(upgrade)
  })
})

describe('Koa', () => {
  it('trap: one error for all requests tells each of them what was left for the first', async () => {
    const app = new Koa()
    app.silent = true
    app.use(forKoa({ limit: '9/h' }) as never)
    const error = Object.assign(new Error('no'), { status: 403, headers: { 'X-Why': 'because' } })
    app.use(() => {
      throw error
    })
    const server: Server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    for (const left of [8, 7]) {
      const { status, headers } = await fetch(url)
      expect([status, headers.get('x-why')]).toEqual([403, 'because'])
      expect(headers.get('ratelimit')).toBe(`"default";r=${left};t=400`)
    }
    server.closeAllConnections()
    server.close()
  })

  it('trap: middleware above a held request never ends when the client goes away', async () => {
    const events: string[] = []
    const app = new Koa()
    const leaving = new AbortController()
    app.use(async (context, next) => {
      events.push('in')
      // The client leaves once its request is held.
      if (context.path === '/leave') setImmediate(() => leaving.abort())
      await next().finally(() => events.push('out'))
    })
    const limit = { algorithm: 'leaky-bucket', quota: 1, window: '1min', burst: 5 } as const
    app.use(forKoa({ limit }) as never)
    app.use((context) => {
      events.push('handled')
      context.body = 'done'
    })
    const server: Server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await fetch(url)
    await expect(fetch(`${url}/leave`, { signal: leaving.signal })).rejects.toThrow(/abort/)
    await expect.poll(() => events).toEqual(['in', 'handled', 'out', 'in', 'out'])
    server.closeAllConnections()
    server.close()
  })
})

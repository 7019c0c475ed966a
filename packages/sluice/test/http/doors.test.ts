// What users of other libraries bring along: frameworks' own addresses, lists of addresses, errors to next.
import type { RequestListener, ServerResponse } from 'node:http'
import express from 'express'
import express4 from 'express4'
import Fastify, { type FastifyReply } from 'fastify'
import { Hono, type Context } from 'hono'
import Koa from 'koa'
import { describe, expect, it } from 'vitest'
import { rateLimit as forExpress } from '../../src/http/express.ts'
import { rateLimit as forFastify } from '../../src/http/fastify.ts'
import { rateLimit as forFetch } from '../../src/http/fetch.ts'
import type { HttpWarning } from '../../src/http/index.ts'
import { rateLimit as forHono } from '../../src/http/hono.ts'
import { rateLimit as forKoa } from '../../src/http/koa.ts'
import { rateLimit as forNode } from '../../src/http/node.ts'
import type { AnyLimiter } from '../../src/http/options.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { listening } from './serving.ts'

/** A limiter that notes the keys it is asked about. */
function noting(): { limiter: AnyLimiter; keys: unknown[] } {
  const keys: unknown[] = []
  const inner = createLimiter({ limit: '99/min' })
  const limiter = {
    check(attributes: { ip?: string }) {
      keys.push(attributes.ip)
      return inner.check('all')
    },
    refund: () => undefined,
  } as unknown as AnyLimiter
  return { limiter, keys }
}

const chain = { 'x-forwarded-for': '6.6.6.6, 203.0.113.9' }

describe("the framework's own address", () => {
  it('is that of Express by trust proxy', async () => {
    const { limiter, keys } = noting()
    const app = express()
    app.set('trust proxy', 1)
    app.use(forExpress(limiter, { address: 'express' }))
    app.get('/', (_, response) => void response.send('ok'))
    await fetch(await listening(app), { headers: chain })
    expect(keys).toEqual(['203.0.113.9'])
  })

  it('is that of Fastify by trustProxy', async () => {
    const { limiter, keys } = noting()
    const app = Fastify({ trustProxy: 'loopback' })
    app.addHook('onRequest', forFastify(limiter, { address: 'fastify' }))
    app.get('/', () => 'ok')
    await app.inject({ url: '/', headers: chain })
    expect(keys).toEqual(['203.0.113.9'])
    await app.close()
  })

  it.each<[setting: unknown, isWide: boolean]>([
    [true, true],
    [() => true, true],
    [1, false],
    [false, false],
    ['loopback', false],
    [['10.0.0.0/8', '192.168.0.0/16'], false],
    [(address: string) => address === '127.0.0.1', false],
  ])('is reported when Express trusts everybody: trust proxy %j', async (setting, isWide) => {
    const warnings: HttpWarning[] = []
    for (const make of [express, express4]) {
      const app = make()
      app.set('trust proxy', setting)
      app.use(
        forExpress(noting().limiter, { address: 'express', onWarning: (w) => warnings.push(w) }),
      )
      app.get('/', (_, response) => void response.send('ok'))
      const url = await listening(app)
      expect((await fetch(url)).status).toBe(200)
      expect((await fetch(url, { headers: chain })).status).toBe(200)
    }
    expect(warnings.map(({ code }) => code)).toEqual(
      isWide ? ['trust-too-wide', 'trust-too-wide'] : [],
    )
  })

  it.each<[trustProxy: boolean | string, isWide: boolean]>([
    [true, true],
    [false, false],
    ['127.0.0.1', false],
  ])('is reported when Fastify trusts everybody: trustProxy %j', async (trustProxy, isWide) => {
    const codes: string[] = []
    const app = Fastify({ trustProxy })
    const onWarning = ({ code }: HttpWarning): void => void codes.push(code)
    app.addHook('onRequest', forFastify(noting().limiter, { address: 'fastify', onWarning }))
    app.get('/', () => 'ok')
    for (const headers of [{}, chain])
      expect((await app.inject({ url: '/', headers })).statusCode).toBe(200)
    expect(codes).toEqual(isWide ? ['trust-too-wide'] : [])
    await app.close()
  })

  it.each([
    [{ proxy: true }, ['trust-too-wide']],
    [{ proxy: true, maxIpsCount: 1 }, []],
    [{}, []],
  ])('is reported when Koa trusts everybody: %j', async (options, expected) => {
    const codes: string[] = []
    const app = new Koa(options)
    const onWarning = ({ code }: HttpWarning): void => void codes.push(code)
    app.use(forKoa(noting().limiter, { address: 'koa', onWarning }))
    app.use((context) => void (context.body = 'ok'))
    const url = await listening(app.callback() as RequestListener)
    for (const headers of [{}, chain]) expect((await fetch(url, { headers })).status).toBe(200)
    expect(codes).toEqual(expected)
  })

  it('is that of Koa by proxy', async () => {
    const { limiter, keys } = noting()
    const app = new Koa({ proxy: true, maxIpsCount: 1 })
    app.use(forKoa(limiter, { address: 'koa' }))
    await fetch(await listening(app.callback() as RequestListener), { headers: chain })
    expect(keys).toEqual(['203.0.113.9'])
  })

  it('is refused where the framework has none', () => {
    expect(() => forNode({ limit: '1/s', address: 'express' })).toThrow(
      'rateLimit: address is "express"; accepted: an object such as { trustedProxies }',
    )
    expect(() => forKoa({ limit: '1/s', address: 'express' })).toThrow("accepted: 'koa', an object")
  })
})

describe('a fetch handler without an address', () => {
  const answer = () => new Response('ok')
  const get = () => new Request('http://host/')

  it('shares a bare limit among all clients, and says so once', async () => {
    const warnings: HttpWarning[] = []
    const onWarning = (warning: HttpWarning): void => void warnings.push(warning)
    const handler = forFetch({ limit: '1/min', onWarning })(answer)
    const statuses = [await handler(get()), await handler(get()), await handler(get())].map(
      ({ status }) => status,
    )
    expect(statuses).toEqual([200, 429, 429])
    expect(warnings.map(({ code, message }) => [code, message])).toEqual([
      ['address-unknown', expect.stringContaining('all requests without one count as one client')],
    ])
  })

  it('reads the last entry of a list that its function returns, and says so once', async () => {
    const warnings: HttpWarning[] = []
    const { limiter, keys } = noting()
    const handler = forFetch(limiter, {
      address: ({ headers }) => headers.get('x-forwarded-for'),
      onWarning: (warning) => void warnings.push(warning),
    })(answer)
    for (const value of ['6.6.6.6, 203.0.113.9', '7.7.7.7,203.0.113.9,', '203.0.113.9'])
      await handler(new Request('http://host/', { headers: { 'x-forwarded-for': value } }))
    expect(keys).toEqual(['203.0.113.9', '203.0.113.9', '203.0.113.9'])
    expect(warnings.map(({ code }) => code)).toEqual(['address-list'])
  })

  it('takes the list as a list, too', async () => {
    const { limiter, keys } = noting()
    const address = () => ['6.6.6.6', '203.0.113.9']
    await forFetch(limiter, { address, onWarning: () => undefined })(answer)(get())
    expect(keys).toEqual(['203.0.113.9'])
  })
})

describe('errors in Express', () => {
  it.each<[string, object]>([
    ['key', { key: () => Promise.reject(new Error('no luck')) }],
    ['skip', { skip: () => Promise.reject(new Error('no luck')) }],
    [
      'onRefused',
      {
        key: () => 'all',
        cost: 2,
        onRefused: () => {
          throw new Error('no luck')
        },
      },
    ],
  ])('of %s go to next', async (_, options) => {
    const app = express()
    app.use(forExpress({ limit: '1/min', onWarning: () => undefined, ...options }))
    app.get('/', (_, response) => void response.send('ok'))
    app.use(((error: Error, _, response, _next) => {
      response.status(418).send(error.message)
    }) as express.ErrorRequestHandler)
    const answer = await fetch(await listening(app))
    expect([answer.status, await answer.text()]).toEqual([418, 'no luck'])
  })
})

describe('errors in other frameworks', () => {
  const failing: [string, object][] = [
    ['key', { key: () => Promise.reject(new Error('no luck')) }],
    ['skip', { skip: () => Promise.reject(new Error('no luck')) }],
    [
      'onRefused',
      { key: () => 'all', cost: 2, onRefused: () => Promise.reject(new Error('no luck')) },
    ],
  ]
  const options = (more: object): never =>
    ({ limit: '1/min', onWarning: () => undefined, ...more }) as never

  it.each(failing)("of %s reach Fastify's error handler", async (_, more) => {
    const app = Fastify()
    app.setErrorHandler<Error>((error, __, reply) => reply.code(418).send(error.message))
    app.addHook('onRequest', forFastify(options(more)))
    app.get('/', () => 'ok')
    const { statusCode, body } = await app.inject('/')
    expect([statusCode, body]).toEqual([418, 'no luck'])
    await app.close()
  })

  it.each(failing)('of %s reach middleware of Koa', async (_, more) => {
    const app = new Koa()
    app.use(async (context, next) => {
      try {
        await next()
      } catch (error) {
        context.status = 418
        context.body = (error as Error).message
      }
    })
    app.use(forKoa(options(more)))
    const answer = await fetch(await listening(app.callback() as RequestListener))
    expect([answer.status, await answer.text()]).toEqual([418, 'no luck'])
  })

  it.each(failing)("of %s reach Hono's onError", async (_, more) => {
    const app = new Hono()
    app.onError((error, context) => context.text(error.message, 418))
    app.use(forHono(options(more)))
    app.get('/', (context) => context.text('ok'))
    const answer = await app.request('/')
    expect([answer.status, await answer.text()]).toEqual([418, 'no luck'])
  })
})

describe('onRefused', () => {
  it("may answer through Fastify's reply", async () => {
    const app = Fastify()
    app.addHook(
      'onRequest',
      forFastify({
        limit: '1/min',
        cost: 2,
        onRefused: (decision, _, reply: FastifyReply) => {
          void reply.code(503).type('text/html').send(`<p>${decision?.rule}</p>`)
          return 'handled'
        },
      }),
    )
    app.get('/', () => 'ok')
    const { statusCode, body } = await app.inject('/')
    expect([statusCode, body]).toEqual([503, '<p>default</p>'])
    await app.close()
  })

  it("may answer by what Hono's context makes", async () => {
    const app = new Hono()
    app.use(
      forHono({
        limit: '1/min',
        cost: 2,
        onWarning: () => undefined,
        onRefused: (decision, context: Context) => context.html(`<p>${decision?.rule}</p>`, 503),
      }),
    )
    app.get('/', (context) => context.text('ok'))
    const answer = await app.request('/')
    expect([answer.status, await answer.text()]).toEqual([503, '<p>default</p>'])
  })

  it("may answer through Node's response", async () => {
    const limit = forNode({
      limit: '1/min',
      cost: 2,
      onRefused: (decision, _, response: ServerResponse) =>
        void response.writeHead(503).end(`rule ${decision?.rule}`),
    })
    const url = await listening((request, response) =>
      limit(request, response, () => void response.end('ok')),
    )
    const answer = await fetch(url)
    expect([answer.status, await answer.text()]).toEqual([503, 'rule default'])
  })

  it('may answer through the response of the framework', async () => {
    const app = express()
    app.use(
      forExpress({
        limit: '1/min',
        cost: 2,
        onRefused: (decision, _, response: express.Response) =>
          void response.status(503).send(`rule ${decision?.rule}`),
      }),
    )
    const answer = await fetch(await listening(app))
    expect([answer.status, await answer.text()]).toEqual([503, 'rule default'])
  })

  it('may answer later', async () => {
    const app = express()
    app.use(
      forExpress({
        limit: '1/min',
        cost: 2,
        onRefused: (_, __, response: express.Response) => {
          setImmediate(() => response.status(503).send('later'))
          return 'handled'
        },
      }),
    )
    const answer = await fetch(await listening(app))
    expect([answer.status, await answer.text()]).toEqual([503, 'later'])
  })

  it('may answer through the context of Koa', async () => {
    const app = new Koa()
    app.use(
      forKoa({
        limit: '1/min',
        cost: 2,
        onRefused(_, __, context: Koa.Context) {
          context.redirect('/wait')
        },
      }),
    )
    const answer = await fetch(await listening(app.callback() as RequestListener), {
      redirect: 'manual',
    })
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/wait'])
  })

  it('may return another Response in a fetch handler', async () => {
    const handler = forFetch({
      limit: '1/min',
      cost: 2,
      onWarning: () => undefined,
      onRefused: (_, __, given) =>
        new Response(`was ${given.status}`, { status: 503, headers: { 'x-own': '1' } }),
    })(() => new Response('ok'))
    const answer = await handler(new Request('http://host/'))
    expect([answer.status, answer.headers.get('x-own'), await answer.text()]).toEqual([
      503,
      '1',
      'was 429',
    ])
    expect(answer.headers.get('ratelimit')).toBe('"default";r=1;t=0')
  })
})

describe('words of other libraries', () => {
  it.each([
    [{ windowMs: 60_000, max: 100 }, 'rateLimit: unknown option "windowMs"; the window is part'],
    [{ limit: '9/min', message: 'no' }, 'rateLimit: unknown option "message"; use onRefused'],
    [{ limit: '9/min', handler: () => 1 }, 'use onRefused'],
    [{ limit: '9/min', keyGenerator: () => 1 }, 'use key, or user and apiKey'],
    [{ limit: '9/min', standardHeaders: 'draft-8' }, "use headers, such as headers: ['draft-8'"],
    [{ points: 5, duration: 1 }, 'the number is part of the limit'],
    [{ limit: '9/min', onRefusd: () => 1 }, 'did you mean onRefused?'],
    [{ limt: '9/min' }, 'did you mean limit? accepted: limit, policy, store'],
  ])('%j is explained', (options, message) => {
    expect(() => forExpress(options as never)).toThrow(message)
  })

  it('draft-8 is a name of a dialect', async () => {
    const handler = forFetch({ limit: '9/min', headers: 'draft-8', key: () => 'all' })
    const answer = await handler(() => new Response('ok'))(new Request('http://host/'))
    expect(answer.headers.get('ratelimit')).toBe('"default";r=8;t=7')
  })
})

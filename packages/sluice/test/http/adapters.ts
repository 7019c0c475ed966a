// The same small service in every framework, limited by whatever a test wants, on a real socket.
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import Router from '@koa/router'
import express from 'express'
import express4 from 'express4'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { rateLimit as forExpress } from '../../src/http/express.ts'
import { rateLimit as forFastify } from '../../src/http/fastify.ts'
import { rateLimit as forFetch } from '../../src/http/fetch.ts'
import { rateLimit as forHono } from '../../src/http/hono.ts'
import type { AnyBudget, AnyLimiter, HttpOptions, RateLimitOptions } from '../../src/http/index.ts'
import { rateLimit as forKoa } from '../../src/http/koa.ts'
import { rateLimit as forNode } from '../../src/http/node.ts'

/** What `rateLimit` is given; functions of the request read it through `header`. */
export type Given = readonly [
  AnyLimiter | AnyBudget | RateLimitOptions<never, never>,
  HttpOptions<never, never>?,
]
/** Reads a header of any framework's request. */
type Header = (request: never, name: string) => string | undefined

/** A running service. */
export interface Service {
  readonly url: string
  /** Paths whose handlers have run. */
  readonly handled: string[]
  close(): Promise<void>
}

/** A framework, with the service in it. `guards` may be several, passed in order. */
export interface Adapter {
  readonly name: string
  /** How the framework tells which route it matched. */
  readonly routes: 'always' | 'on-route' | 'never'
  /** What the framework calls the route of `/orders/7`. */
  readonly template: string
  readonly header: Header
  /** Whether the framework answers errors that the adapter hands to it. */
  readonly answersErrors: boolean
  start(guards: readonly Given[], where?: 'before' | 'on-route'): Promise<Service>
}

/** The declared routes of the service, for frameworks that tell none. */
export const ROUTES = ['/hello', '/orders/{id}', '/stream', '/error', '/login']

const nodeHeader = ((request: { headers: Record<string, string> }, name: string) =>
  request.headers[name]) as Header

function chunks(handled: string[]): ReadableStream<Uint8Array> {
  handled.push('/stream')
  const texts = ['one ', 'two ', 'three']
  return new ReadableStream({
    async pull(controller) {
      const text = texts.shift()
      if (text === undefined) return controller.close()
      await new Promise((resolve) => setImmediate(resolve))
      controller.enqueue(new TextEncoder().encode(text))
    },
  })
}

/** The limits that the framework is to pass; one that is given twice is the same one twice. */
function made<T>(guards: readonly Given[], make: (first: never, options: never) => T): T[] {
  const known = new Map<Given, T>()
  return guards.map((given) => {
    const limit = known.get(given) ?? make(given[0] as never, given[1] as never)
    known.set(given, limit)
    return limit
  })
}

async function listening(server: Server, handled: string[]): Promise<Service> {
  if (!server.listening) await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    handled,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The service by Node alone. */
function plainService(handled: string[]): RequestListener {
  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://host')
    handled.push(pathname)
    if (pathname === '/hello') response.end('hello')
    else if (/^\/orders\/\w+$/.test(pathname)) response.end('order')
    else if (pathname === '/error') response.writeHead(500).end('broken')
    else if (pathname === '/login')
      response.writeHead(Number(searchParams.get('status') ?? 200)).end()
    else if (pathname === '/stream') {
      response.write('one ')
      setImmediate(() => {
        response.write('two ')
        setImmediate(() => response.end('three'))
      })
    } else response.writeHead(404).end('nothing here')
  }
}

const node: Adapter = {
  name: 'node:http',
  routes: 'never',
  template: '/orders/{id}',
  header: nodeHeader,
  answersErrors: false,
  start(guards) {
    const handled: string[] = []
    const handler = plainService(handled)
    const limits = made(guards, (first, options) => forNode(first, options))
    const server = createServer((request, response) => {
      const next = (i: number): void => {
        const limit = limits[i]
        if (limit === undefined) handler(request, response)
        else limit(request, response, () => next(i + 1))
      }
      next(0)
    })
    return listening(server.listen(0, '127.0.0.1'), handled)
  },
}

function expressAdapter(name: string, make: typeof express): Adapter {
  return {
    name,
    routes: 'on-route',
    template: '/orders/:id',
    header: nodeHeader,
    answersErrors: true,
    start(guards, where = 'before') {
      const handled: string[] = []
      const app = make()
      app.disable('x-powered-by')
      const limits = made(guards, (first, options) => forExpress(first, options))
      const onRoute = where === 'on-route' ? limits : []
      if (where === 'before') for (const limit of limits) app.use(limit as never)
      const done = (path: string): void => void handled.push(path)
      app.get(
        '/hello',
        onRoute as never,
        (request, response) => (done(request.path), void response.send('hello')),
      )
      app.get(
        '/orders/:id',
        onRoute as never,
        (request, response) => (done(request.path), void response.send('order')),
      )
      app.get('/error', onRoute as never, () => {
        done('/error')
        throw Object.assign(new Error('broken'), { expose: false })
      })
      app.all('/login', onRoute as never, (request, response) => {
        done(request.path)
        response.status(Number(request.query['status'] ?? 200)).end()
      })
      app.get('/stream', onRoute as never, (_, response) => {
        done('/stream')
        response.write('one ')
        setImmediate(() => (response.write('two '), setImmediate(() => response.end('three'))))
      })
      // Express prints errors unless somebody handles them; its own answer is what we want to see.
      app.set('env', 'test')
      return listening(app.listen(0, '127.0.0.1'), handled)
    },
  }
}

const fastify: Adapter = {
  name: 'Fastify 5',
  routes: 'always',
  template: '/orders/:id',
  header: nodeHeader,
  answersErrors: true,
  async start(guards) {
    const handled: string[] = []
    const app = Fastify()
    for (const limit of made(guards, (first, options) => forFastify(first, options)))
      app.addHook('onRequest', limit)
    app.get('/hello', ({ url }) => (handled.push(url), 'hello'))
    app.get('/orders/:id', ({ url }) => (handled.push(url), 'order'))
    app.get('/error', () => {
      handled.push('/error')
      throw new Error('broken')
    })
    app.all('/login', (request, reply) => {
      handled.push('/login')
      void reply.code(Number((request.query as { status?: string }).status ?? 200)).send('')
    })
    app.get('/stream', (_, reply) => reply.send(chunks(handled)))
    await app.listen({ port: 0, host: '127.0.0.1' })
    return listening(app.server, handled)
  },
}

const koa: Adapter = {
  name: 'Koa',
  routes: 'on-route',
  template: '/orders/:id',
  header: nodeHeader,
  answersErrors: true,
  start(guards, where = 'before') {
    const handled: string[] = []
    const app = new Koa()
    app.silent = true
    const router = new Router()
    const limits = made(guards, (first, options) => forKoa(first, options))
    for (const limit of limits) {
      if (where === 'before') app.use(limit as never)
      else router.use(limit as never)
    }
    router.get('/hello', (context) => (handled.push(context.path), void (context.body = 'hello')))
    router.get(
      '/orders/:id',
      (context) => (handled.push(context.path), void (context.body = 'order')),
    )
    router.get('/error', () => {
      handled.push('/error')
      throw new Error('broken')
    })
    router.all('/login', (context) => {
      handled.push('/login')
      context.status = Number(context.query['status'] ?? 200)
      context.body = 'login'
    })
    router.get('/stream', (context) => void (context.body = chunks(handled)))
    app.use(router.routes())
    return listening(app.listen(0, '127.0.0.1'), handled)
  },
}

/** The service in Hono, also for requests that are injected. */
export function honoApp(guards: readonly Given[], handled: string[]): Hono {
  const app = new Hono()
  for (const limit of made(guards, (first, options) => forHono(first, options))) app.use(limit)
  app.get('/hello', (context) => (handled.push(context.req.path), context.text('hello')))
  app.get('/orders/:id', (context) => (handled.push(context.req.path), new Response('order')))
  app.get('/error', () => {
    handled.push('/error')
    throw new Error('broken')
  })
  app.all('/login', (context) => {
    handled.push('/login')
    return context.body('', Number(context.req.query('status') ?? 200) as 200)
  })
  app.get('/stream', () => new Response(chunks(handled)))
  app.onError((_, context) => context.text('broken', 500))
  return app
}

const hono: Adapter = {
  name: 'Hono',
  routes: 'always',
  template: '/orders/:id',
  header: (request, name) =>
    (request as { req: { header(name: string): string | undefined } }).req.header(name),
  answersErrors: true,
  async start(guards) {
    const handled: string[] = []
    const { fetch } = honoApp(guards, handled)
    return listening(serve({ fetch, port: 0, hostname: '127.0.0.1' }) as Server, handled)
  },
}

type Fetch = (request: Request, ...rest: unknown[]) => Promise<Response>

/** The service as a fetch handler. */
export function fetchHandler(
  guards: readonly Given[],
  handled: string[],
): (request: Request, ...rest: unknown[]) => Promise<Response> {
  const service = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url)
    handled.push(pathname)
    if (pathname === '/hello') return new Response('hello')
    if (/^\/orders\/\w+$/.test(pathname)) return new Response('order')
    if (pathname === '/stream') return new Response(chunks(handled))
    if (pathname === '/login')
      return new Response(null, { status: Number(searchParams.get('status') ?? 200) })
    return new Response('', { status: pathname === '/error' ? 500 : 404 })
  }
  return made(guards, (first, options) => forFetch(first, options)).reduceRight<Fetch>(
    (handler, limit) => limit(handler),
    service,
  )
}

const fetchAdapter: Adapter = {
  name: 'fetch handlers',
  routes: 'never',
  template: '/orders/{id}',
  header: (request, name) => (request as Request).headers.get(name) ?? undefined,
  answersErrors: false,
  async start(guards) {
    const handled: string[] = []
    const fetch = fetchHandler(guards, handled)
    return listening(serve({ fetch, port: 0, hostname: '127.0.0.1' }) as Server, handled)
  },
}

/** Every adapter. */
export const ADAPTERS: readonly Adapter[] = [
  node,
  expressAdapter('Express 5', express),
  expressAdapter('Express 4', express4),
  fastify,
  koa,
  hono,
  fetchAdapter,
]

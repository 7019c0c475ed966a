// The adapters fit the real frameworks, and options see the framework's own request.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import Router from '@koa/router'
import express from 'express'
import type { Request as ExpressRequest, RequestHandler } from 'express'
import Fastify, { type FastifyRequest, type onRequestHookHandler } from 'fastify'
import { Hono, type MiddlewareHandler } from 'hono'
import type { Context as KoaContext } from 'koa'
import Koa from 'koa'
import { expectTypeOf, test } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import type { Decision } from '../decision/decision.ts'
import { rateLimit as forExpress } from './express.ts'
import { rateLimit as forFastify } from './fastify.ts'
import { rateLimit as forFetch } from './fetch.ts'
import { rateLimit as forHono } from './hono.ts'
import { decisionOf, settle } from './index.ts'
import { rateLimit as forKoa } from './koa.ts'
import { rateLimit as forNode } from './node.ts'

const limiter = createLimiter({ limit: '100/min' })

test('a limit beside a policy does not compile', () => {
  const policy = { name: 'api', rules: [{ name: 'a', by: ['user'], limit: '1/s' }] }
  // @ts-expect-error a policy has its own limits
  forNode({ limit: '5/s', policy })
  expectTypeOf(forNode({ policy })).toBeFunction()
})

test('node:http', () => {
  const limit = forNode<IncomingMessage, ServerResponse>(limiter, {
    user: (request) => request.headers.authorization,
    after: ({ response }) => (response.statusCode < 400 ? 0 : undefined),
  })
  createServer((request, response) => limit(request, response, () => response.end()))
  createServer((request, response) =>
    forNode({ limit: '5/s' })(request, response, () => response.end()),
  )
  expectTypeOf(forNode<IncomingMessage, ServerResponse>(limiter)).toBeCallableWith(
    {} as IncomingMessage,
    {} as ServerResponse,
    () => undefined,
  )
})

test('Express', () => {
  const app = express()
  app.use(forExpress({ limit: '100/min' }))
  app.use(forExpress(limiter, { user: (request: ExpressRequest) => request.get('x-user') }))
  app.get('/orders/:id', forExpress(limiter), (_, response) => void response.send('ok'))
  app.use('/api', express.Router().use(forExpress(limiter)))
  expectTypeOf(forExpress(limiter)).toExtend<RequestHandler>()
})

test('Fastify', () => {
  const app = Fastify()
  app.addHook('onRequest', forFastify({ limit: '100/min' }))
  app.addHook('preHandler', forFastify(limiter, { tenant: () => 'acme' }))
  app.get('/', { onRequest: forFastify(limiter) }, () => 'ok')
  app.get('/once', { onRequest: forFastify({ limit: '5/min' }) }, () => 'ok')
  const user = ({ headers }: { headers: FastifyRequest['headers'] }) => headers.authorization
  app.get('/twice', { preHandler: forFastify(limiter, { user }) }, () => 'ok')
  app.addHook(
    'preHandler',
    forFastify(limiter, { user: (request) => request.headers['x-user'] as string }),
  )
  app.addHook('onRequest', forFastify(limiter, { skip: ({ url }) => url === '/health' }))
  app.addHook('preHandler', forFastify(limiter, { user: (request: FastifyRequest) => request.ip }))
  app.get(
    '/typed',
    { preHandler: forFastify({ limit: '5/min', key: (request: FastifyRequest) => request.id }) },
    () => 'ok',
  )
  expectTypeOf(forFastify(limiter)).toExtend<onRequestHookHandler>()
})

test('Koa and its router', () => {
  const app = new Koa()
  app.use(forKoa({ limit: '100/min' }))
  app.use(forKoa(limiter, { user: (context) => context.get('x-user') }))
  app.use(forKoa(limiter, { skip: ({ path }) => path === '/health' }))
  app.use(forKoa(limiter, { user: (context: KoaContext) => context.get('x-user') }))
  new Router().get('/orders/:id', forKoa(limiter), (context) => void (context.body = 'ok'))
  expectTypeOf(forKoa(limiter)).toExtend<Koa.Middleware>()
})

test('Hono', () => {
  const app = new Hono()
  app.use(forHono({ limit: '100/min' }))
  app.use(forHono(limiter, { skip: ({ req }) => req.path === '/health' }))
  app.get('/orders/:id', forHono(limiter, { plan: () => 'pro' }), (context) => context.text('ok'))
  expectTypeOf(forHono(limiter)).toExtend<MiddlewareHandler>()
})

test('fetch handlers keep what the runtime adds', () => {
  const handler = forFetch(limiter)(
    (request: Request, env: { region: string }) => new Response(request.url + env.region),
  )
  expectTypeOf(handler).toEqualTypeOf<
    (request: Request, env: { region: string }) => Promise<Response>
  >()
})

test('options that mean nothing are mistakes', () => {
  // @ts-expect-error -- a dialect that does not exist
  forExpress({ limit: '1/s', headers: 'draft-1' })
  // @ts-expect-error -- a user is known by an id
  forNode(limiter, { user: () => ({ id: 7 }) })
  // @ts-expect-error -- an attribute that nobody asked for
  forHono(limiter, { usr: () => 'ann' })
  // @ts-expect-error -- not a limiter
  expectTypeOf(forNode).toBeCallableWith('100/min')
})

test('the decision and late charges by request', () => {
  expectTypeOf(decisionOf({})).toEqualTypeOf<Decision | undefined>()
  expectTypeOf(settle).parameter(1).toBeNumber()
})

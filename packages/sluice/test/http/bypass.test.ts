// Whatever a router takes for a route counts as that route: request lines as no client library sends them, real routers.
import { connect } from 'node:net'
import type { RequestListener } from 'node:http'
import express from 'express'
import express4 from 'express4'
import Koa from 'koa'
import Router from '@koa/router'
import { describe, expect, it } from 'vitest'
import { rateLimit as forExpress } from '../../src/http/express.ts'
import type { AnyLimiter } from '../../src/http/index.ts'
import { rateLimit as forKoa } from '../../src/http/koa.ts'
import { rateLimit } from '../../src/http/node.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import type { Attributes } from '../../src/policy/policy.ts'
import { listening } from './serving.ts'

const options = { routes: ['/', '/login', '/home', '/orders/{id}', '/files/{path*}'] }

const TARGETS = [
  '/login',
  '/LOGIN',
  '/login/',
  '/login?x=/home',
  '/login#/home',
  '/./login',
  '/orders/../login',
  '/orders/%2e%2e/login',
  '/orders/.%2E/login',
  '/files/../home',
  '/files/a/%2e%2e/%2e%2e/home',
  '/orders/..',
  '/orders/.',
  '/orders/%2e%2e',
  String.raw`/\login`,
  String.raw`/.\login`,
  String.raw`/orders\..\login`,
  String.raw`/orders/a\b`,
  String.raw`/orders/..\login`,
  'http://host/login',
  'HTTP://host/login',
  'http://user@host:80/login?x',
  'http://host//login',
  'http://host/orders/7',
  'https://host/login',
  'ftp://host/login',
  'http://host',
  '//host/login',
  '//orders/login',
  '//files/login',
  '//login',
  '///host/login',
  String.raw`/\host/login`,
  String.raw`/\orders\login`,
  '//user@host:1/login',
  `${'/.'.repeat(4000)}/login`,
  `${'/'.repeat(8000)}login`,
  `/orders/${'x'.repeat(8000)}`,
  '/login\t',
  '/lo\tgin',
  '/login%09',
  '/login;x=1',
  '/orders/7;x=1',
  '/login%2F',
  '/orders%2F7',
  '/login.',
  '/login%00',
  '/%2flogin',
  '/login/..%2flogin',
  '/orders/7/..%2f..%2flogin',
  '/orders/..%5clogin',
  '/login//..',
  '/orders//../../login',
  '/..;/login',
  '/orders/..;x/login',
  '/%252flogin',
  '*',
]

/** Receives the route whose handler was reached. */
type Reach = (route: string | undefined) => void

/** Servers, by the way in which they find the route of a request. */
const ROUTERS: Record<string, (limiter: AnyLimiter, reach: Reach) => RequestListener> = {
  'new URL(target, base)': (limiter, reach) =>
    plain(limiter, reach, (target) => new URL(target, 'http://localhost').pathname),
  'segments that are not empty': (limiter, reach) =>
    plain(
      limiter,
      reach,
      (target) => `/${target.split(/[?#]/)[0]!.split(/\/+/).filter(Boolean).join('/')}`,
    ),
  'Express 5': (limiter, reach) => ofExpress(express(), '/files/*path', limiter, reach),
  'Express 4': (limiter, reach) => ofExpress(express4(), '/files/*', limiter, reach),
  Koa: (limiter, reach) => {
    const router = new Router()
    router.get('/', () => reach('/'))
    for (const path of ['/login', '/home']) router.get(path, () => reach(path))
    router.get('/orders/:id', () => reach('/orders/{id}'))
    router.get('/files/{*path}', () => reach('/files/{path*}'))
    const app = new Koa().use(forKoa(limiter, options) as never).use(router.routes())
    return app.callback() as RequestListener
  },
}

function plain(
  limiter: AnyLimiter,
  reach: Reach,
  pathOf: (target: string) => string,
): RequestListener {
  const limit = rateLimit(limiter, options)
  return (request, response) =>
    limit(request, response as never, () => {
      const path = pathOf(request.url!).toLowerCase()
      const match = /^\/(?:(login|home)?\/?|(orders)\/[^/]+|(files)\/.+)$/.exec(path)
      if (match !== null)
        reach(match[2] ? '/orders/{id}' : match[3] ? '/files/{path*}' : `/${match[1] ?? ''}`)
      response.end()
    })
}

function ofExpress(
  app: ReturnType<typeof express>,
  files: string,
  limiter: AnyLimiter,
  reach: Reach,
): RequestListener {
  app.use(forExpress(limiter, options) as never)
  const routes = {
    '/login': '/login',
    '/home': '/home',
    '/orders/:id': '/orders/{id}',
    [files]: '/files/{path*}',
    '/': '/',
  }
  for (const [path, route] of Object.entries(routes))
    app.get(path, (_, response) => (reach(route), void response.end()))
  return app as unknown as RequestListener
}

/** Sends a request line as it is, and waits for the end of the answer. */
function send(url: string, target: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
      socket.write(`GET ${target} HTTP/1.1\r\nHost: host\r\nConnection: close\r\n\r\n`),
    )
    socket
      .on('close', () => resolve())
      .on('error', reject)
      .resume()
  })
}

describe.each(Object.entries(ROUTERS))('routing by %s', (_, make) => {
  it('trap: a spelling that reaches a route and counts as another, or as none', async () => {
    const inner = createLimiter({
      policy: { name: 'a', rules: [{ name: 'route', by: ['route'], limit: '999/min' }] },
    })
    const counted = new Set<unknown>()
    let reached: string | undefined
    const check = (attributes: Attributes) => {
      counted.add(attributes['route'])
      return inner.check(attributes)
    }
    const limiter = { check, refund: () => undefined } as unknown as AnyLimiter
    const url = await listening(make(limiter, (route) => (reached = route)))
    const wrong: unknown[] = []
    let reaches = 0
    for (const target of TARGETS) {
      counted.clear()
      reached = undefined
      await send(url, target)
      if (reached !== undefined) reaches++
      if (reached !== undefined && !counted.has(reached))
        wrong.push([target.slice(-40), reached, ...counted])
    }
    expect(wrong).toEqual([])
    expect(reaches).toBeGreaterThan(10)
  })
})

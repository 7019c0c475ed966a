// The guard and the decorators in a real Nest application, over real sockets.
import 'reflect-metadata'
import type { AddressInfo } from 'node:net'
import {
  Catch,
  Controller,
  Get,
  HttpException,
  Param,
  Post,
  type ArgumentsHost,
  type CanActivate,
  type ExceptionFilter,
  type INestApplication,
} from '@nestjs/common'
import { Test } from '@nestjs/testing'
import type { Request, Response as ExpressResponse } from 'express'
import { createLimiter, memoryStore, type Attributes, type LimiterOptions } from 'sluice'
import { createBudget, type SyncBudget } from 'sluice/budgets'
import type { AnyLimiter } from 'sluice/http'
import { fakeClock } from 'sluice/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Cost, RateLimit, rateLimit, RateLimitException, SkipRateLimit } from '@sluice/nest'
import { decorateClass, decorateMethod } from './decorate.ts'

const clock = fakeClock(1_800_000_000_000)
const applications: INestApplication[] = []

afterEach(async () => {
  for (const application of applications.splice(0)) await application.close()
})

const limiterOf = (options: LimiterOptions) =>
  createLimiter({ ...options, store: memoryStore({ clock }) })

/** Each test has its own classes, since limits are made once per decorator. */
async function start(
  guards: CanActivate[],
  {
    routeLimiter = limiterOf({ limit: '1000/min' }),
    filters = [],
  }: { routeLimiter?: AnyLimiter; filters?: ExceptionFilter[] } = {},
): Promise<{ url: string; handled: string[] }> {
  const handled: string[] = []
  class Orders {
    one(id: string): string {
      handled.push(id)
      return `order ${id}`
    }
    heavy(): string {
      return 'heavy'
    }
    login(): never {
      throw new HttpException('wrong', 401)
    }
    health(): string {
      return 'well'
    }
  }
  decorateClass(Orders, Controller('orders'))
  Param('id')(Orders.prototype, 'one', 0)
  decorateMethod(Orders, 'one', Get(':id'), RateLimit(routeLimiter))
  decorateMethod(Orders, 'heavy', Get('all/heavy'), Cost(3))
  decorateMethod(Orders, 'login', Post('login'))
  decorateMethod(Orders, 'health', Get('all/health'), SkipRateLimit())
  const made = await Test.createTestingModule({ controllers: [Orders] }).compile()
  const app = made.createNestApplication({ logger: false, forceCloseConnections: true })
  app.setGlobalPrefix('v1')
  app.useGlobalGuards(...guards)
  app.useGlobalFilters(...filters)
  await app.listen(0, '127.0.0.1')
  applications.push(app)
  const { port } = app.getHttpServer().address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1/orders`, handled }
}

/** Whether a slot is free: it is entered and left. */
function freed(budget: SyncBudget): boolean {
  const slot = budget.enter({})
  slot.leave()
  return slot.allowed
}

describe('rateLimit for Nest', () => {
  it('tells on every response what is left', async () => {
    const { url } = await start([rateLimit(limiterOf({ limit: '5/min' }))])
    const response = await fetch(`${url}/7`)
    expect([response.status, await response.text()]).toEqual([200, 'order 7'])
    expect(response.headers.get('ratelimit')).toBe('"default";r=4;t=12, "default";r=999;t=1')
  })

  it('refuses with 429, the wait and the problem, and the handler does not run', async () => {
    const { url, handled } = await start([rateLimit(limiterOf({ limit: '1/min' }))])
    await fetch(`${url}/7`)
    const response = await fetch(`${url}/8`)
    expect(response.status).toBe(429)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'retry-after': '60',
      'cache-control': 'no-store',
      'content-type': expect.stringMatching(/^application\/problem\+json/) as string,
      ratelimit: '"default";r=0;t=60',
    })
    expect(await response.json()).toMatchObject({
      status: 429,
      detail: 'Try again in 60 s.',
      'violated-policies': ['default'],
    })
    expect(handled).toEqual(['7'])
  })

  it('frees the slot of a budget when the response is over', async () => {
    const rules = [
      { name: 'at-once', by: [], concurrency: 1, hold: '1day' as const },
      { name: 'tokens', by: [], limit: '100/day', hold: '60s' as const },
    ]
    const budget = createBudget({ policy: { name: 'orders', rules } })
    const { url } = await start([rateLimit(budget, { after: () => 4 })])
    for (const path of ['/7', '/none/at/all', '/all/heavy']) {
      const response = await fetch(url + path)
      await response.text()
      expect(response.status).not.toBe(429)
      await expect.poll(() => freed(budget)).toBe(true)
    }
    budget.close()
  })

  it('leaves the answer to a filter of the application', async () => {
    class Filter implements ExceptionFilter<RateLimitException> {
      catch(exception: RateLimitException, host: ArgumentsHost): void {
        const response = host.switchToHttp().getResponse<ExpressResponse>()
        response.status(exception.getStatus()).send(`slow down: ${exception.decision?.retryAfter}`)
      }
    }
    decorateClass(Filter, Catch(RateLimitException))
    const guard = rateLimit(limiterOf({ limit: '1/min' }))
    const { url } = await start([guard], { filters: [new Filter()] })
    await fetch(`${url}/7`)
    const response = await fetch(`${url}/7`)
    expect([response.status, await response.text()]).toEqual([429, 'slow down: 60000'])
    expect(response.headers.get('retry-after')).toBe('60')
  })

  it('lets onRefused choose status, body and content type', async () => {
    const guard = rateLimit(limiterOf({ limit: '1/min' }), {
      onRefused: async () => ({
        status: 420,
        body: '<p>Slow down.</p>',
        headers: { 'content-type': 'text/html; charset=utf-8' },
      }),
    })
    const { url, handled } = await start([guard])
    await fetch(`${url}/7`)
    const response = await fetch(`${url}/8`)
    expect([response.status, await response.text()]).toEqual([420, '<p>Slow down.</p>'])
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('retry-after')).toBe('60')
    expect(handled).toEqual(['7'])
  })

  it('lets onRefused answer by itself, such as with a redirect', async () => {
    const guard = rateLimit<Request, ExpressResponse>(limiterOf({ limit: '1/min' }), {
      onRefused: (_decision, _request, response) => {
        response.redirect(303, '/busy')
        return 'handled'
      },
    })
    const { url, handled } = await start([guard])
    await fetch(`${url}/7`)
    const response = await fetch(`${url}/8`, { redirect: 'manual' })
    expect([response.status, response.headers.get('location')]).toEqual([303, '/busy'])
    expect(handled).toEqual(['7'])
  })

  it('hands what onRefused throws to the filters of the application', async () => {
    const guard = rateLimit(limiterOf({ limit: '1/min' }), {
      onRefused: () => {
        throw new HttpException('not today', 418)
      },
    })
    const { url } = await start([guard])
    await fetch(`${url}/7`)
    expect((await fetch(`${url}/8`)).status).toBe(418)
  })

  it('hands errors of other functions to the filters, and waits for skip', async () => {
    const skip = async ({ headers }: Request): Promise<boolean> => {
      if (headers['x-user'] === 'broken') throw new HttpException('no luck', 418)
      return headers['x-user'] === 'probe'
    }
    const limiter = limiterOf({ limit: '1/min' })
    const { url } = await start([rateLimit(limiter, { skip, onWarning: () => undefined })])
    const get = async (user: string) =>
      (await fetch(`${url}/7`, { headers: { 'x-user': user } })).status
    expect([await get('probe'), await get('ann'), await get('ann')]).toEqual([200, 200, 429])
    expect([await get('probe'), await get('broken')]).toEqual([200, 418])
  })

  it('limits by a function of the attributes', async () => {
    const limit = ({ most }: Attributes) => `${Number(most)}/min`
    const rules = [{ name: 'own', by: ['user'], limit }]
    const limiter = limiterOf({ policy: { name: 'p', rules } })
    const user = ({ headers }: Request) => String(headers['x-user'])
    const attributes = async (request: Request) => ({ most: user(request) === 'gold' ? 2 : 1 })
    const { url } = await start([rateLimit(limiter, { user, attributes })])
    const get = async (name: string) =>
      (await fetch(`${url}/7`, { headers: { 'x-user': name } })).status
    expect([await get('gold'), await get('gold'), await get('gold')]).toEqual([200, 200, 429])
    expect([await get('ann'), await get('ann')]).toEqual([200, 429])
  })

  it('limits a method by its own decorator', async () => {
    const { url } = await start([], { routeLimiter: limiterOf({ limit: '1/min' }) })
    expect((await fetch(`${url}/7`)).status).toBe(200)
    expect((await fetch(`${url}/7`)).status).toBe(429)
    expect((await fetch(`${url}/all/heavy`)).status).toBe(200)
  })

  it('charges what @Cost says, else the cost of the options', async () => {
    const limiter = limiterOf({ limit: '10/min' })
    const { url } = await start([rateLimit(limiter, { cost: 2, user: () => 'ann' })])
    await fetch(`${url}/all/heavy`)
    expect(limiter.peek('user:ann').remaining).toBe(7)
    await fetch(`${url}/7`)
    expect(limiter.peek('user:ann').remaining).toBe(5)
  })

  it.each([-1, 1.5, Number.NaN])('@Cost(%s) throws where it stands', (units) => {
    expect(() => Cost(units)).toThrow(/whole numbers/)
  })

  it('does not count what @SkipRateLimit names', async () => {
    const { url } = await start([rateLimit(limiterOf({ limit: '0/min' }))])
    const response = await fetch(`${url}/all/health`)
    expect([response.status, response.headers.get('ratelimit')]).toEqual([200, null])
    expect((await fetch(`${url}/all/heavy`)).status).toBe(429)
  })

  it('knows the user, the method and the whole template of the route', async () => {
    const seen: Attributes[] = []
    const rule = { name: 'all', by: ['user', 'route', 'method', 'ip'], limit: '9/min' } as const
    const limiter = limiterOf({ policy: { name: 'api', rules: [rule] } })
    const check = (attributes: Attributes | string, cost?: number) => {
      seen.push(attributes as Attributes)
      return limiter.check(attributes, cost)
    }
    const guard = rateLimit(Object.assign(Object.create(limiter) as typeof limiter, { check }), {
      user: (request: Request) => request.get('x-user'),
    })
    const { url } = await start([guard])
    await fetch(`${url}/7`, { headers: { 'x-user': 'ann' } })
    expect(seen).toMatchObject([
      { user: 'ann', route: '/v1/orders/:id', method: 'GET', ip: '127.0.0.1' },
    ])
  })

  it('gives back by what the response was', async () => {
    const limiter = limiterOf({ limit: '2/min' })
    const guard = rateLimit(limiter, { after: ({ status }) => (status === 401 ? undefined : 0) })
    const { url } = await start([guard])
    for (let i = 0; i < 5; i++) expect((await fetch(`${url}/7`)).status).toBe(200)
    for (const status of [401, 401, 429])
      expect((await fetch(`${url}/login`, { method: 'POST' })).status).toBe(status)
  })

  it('holds a request for the delay of a leaky bucket', async () => {
    const limit = { algorithm: 'leaky-bucket', quota: 10, window: '1s', burst: 10 } as const
    const { url } = await start([rateLimit(limiterOf({ limit }))])
    const begun = performance.now()
    await Promise.all([fetch(`${url}/1`), fetch(`${url}/2`)])
    expect(performance.now() - begun).toBeGreaterThan(95)
  })

  it('the handler does not run when the client disconnects while it is held', async () => {
    const limit = { algorithm: 'leaky-bucket', quota: 1, window: '1s', burst: 10 } as const
    const limiter = limiterOf({ limit })
    const check = vi.spyOn(limiter, 'check')
    const { url, handled } = await start([rateLimit(limiter)])
    await fetch(`${url}/1`)
    const leaving = new AbortController()
    const held = fetch(`${url}/gone`, { signal: leaving.signal }).catch(() => 'left')
    await vi.waitUntil(() => check.mock.calls.length === 2, 10_000)
    leaving.abort()
    expect(await held).toBe('left')
    // Held for longer than the one that left would have been.
    await fetch(`${url}/3`)
    expect(handled).toEqual(['1', '3'])
  })

  it.each([
    ['open', 200],
    ['closed', 503],
  ] as const)('a limiter that fails is %s', async (onFailure, status) => {
    const broken: AnyLimiter = {
      check: () => Promise.reject(new Error('no store')),
      refund: () => Promise.resolve(),
    }
    const { url } = await start([rateLimit(broken, { onFailure, onWarning: () => undefined })])
    expect((await fetch(`${url}/7`)).status).toBe(status)
  })
})

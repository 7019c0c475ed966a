// The interceptor for gRPC servers, over a real socket, with grpc-js's own client.
import { ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js'
import { afterEach, describe, expect, it } from 'vitest'
import { rateLimit, type GrpcRequest } from '../../src/http/grpc.ts'
import type { AnyLimiter, HttpOptions } from '../../src/http/index.ts'
import { createLimiter, type LimiterOptions } from '../../src/limiter/create-limiter.ts'
import type { Attributes } from '../../src/policy/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { detailsIn, startGrpc, type GrpcService } from './grpc-service.ts'

const [OK, NOT_FOUND, RESOURCE_EXHAUSTED] = [0, 5, 8]
const clock = fakeClock(1_800_000_000_000)
const limiterOf = (options: LimiterOptions) =>
  createLimiter({ ...options, store: memoryStore({ clock }) })
const services: GrpcService[] = []

afterEach(() => {
  for (const service of services.splice(0)) service.close()
})

async function start(...guards: [AnyLimiter, HttpOptions<GrpcRequest>?][]): Promise<GrpcService> {
  const service = await startGrpc(
    // Typed as grpc-js has it, which shows that the structural types fit.
    guards.map(([limiter, options]): ServerInterceptor =>
      rateLimit(ServerInterceptingCall, limiter, options),
    ),
  )
  services.push(service)
  return service
}

describe('the gRPC interceptor', () => {
  it.each(['get', 'list'] as const)('tells of a call of %s what is left', async (name) => {
    const { call } = await start([limiterOf({ limit: '5/min' })])
    for (const left of [4, 3]) {
      const { code, headers, messages } = await call(name)
      expect([code, messages]).toEqual([OK, name === 'get' ? ['order 7'] : ['one', 'two']])
      expect(headers.get('ratelimit')).toEqual([`"default";r=${left};t=12`])
      expect(headers.get('ratelimit-policy')).toEqual(['"default";q=5;w=60'])
    }
  })

  it('refuses with RESOURCE_EXHAUSTED and the wait, and the handler does not run', async () => {
    const { call, handled } = await start([limiterOf({ limit: '8/min' }), { cost: 8 }])
    await call('get')
    clock.advance(1)
    const { code, details, trailers, messages } = await call('get')
    expect([code, details, messages]).toEqual([RESOURCE_EXHAUSTED, 'Try again in 60 s.', []])
    expect(handled).toEqual(['7'])
    expect(trailers.getMap()).toMatchObject({
      ratelimit: '"default";r=0;t=8',
      'retry-after': '60',
      'grpc-retry-pushback-ms': '59999',
    })
    expect(detailsIn(trailers)).toEqual({
      code: RESOURCE_EXHAUSTED,
      message: 'Try again in 60 s.',
      'google.rpc.RetryInfo': { retry_delay: { seconds: 59, nanos: 999_000_000 } },
      'google.rpc.QuotaFailure': { violations: [{ description: 'default' }] },
    })
  })

  it('tells a caller that can never be served not to try again', async () => {
    const { call } = await start([limiterOf({ limit: '5/min' }), { cost: 6 }])
    const { code, trailers } = await call('get')
    expect(code).toBe(RESOURCE_EXHAUSTED)
    expect(trailers.get('grpc-retry-pushback-ms')).toEqual(['-1'])
    expect(trailers.get('retry-after')).toEqual([])
    expect(Object.keys(detailsIn(trailers))).not.toContain('google.rpc.RetryInfo')
  })

  it('does not name hidden rules', async () => {
    const rules = [{ name: 'secret', by: ['ip'], limit: '1/min', hidden: true }] as const
    const { call } = await start([limiterOf({ policy: { name: 'api', rules } })])
    await call('get')
    const { code, trailers } = await call('get')
    expect(code).toBe(RESOURCE_EXHAUSTED)
    expect(trailers.get('ratelimit')).toEqual([])
    expect(Object.keys(detailsIn(trailers))).toEqual(['code', 'message', 'google.rpc.RetryInfo'])
  })

  it('spreads the waits with the option spread', async () => {
    const { call } = await start([limiterOf({ limit: '1/s' }), { spread: '1h' }])
    await call('get')
    const { trailers } = await call('get')
    const [seconds] = trailers.get('retry-after')
    expect(trailers.get('grpc-retry-pushback-ms')).toEqual([`${Number(seconds) * 1000}`])
    expect(detailsIn(trailers)).toMatchObject({
      'google.rpc.RetryInfo': { retry_delay: { seconds: Number(seconds) } },
    })
  })

  it.each<[string, HttpOptions<GrpcRequest>, number, boolean]>([
    ['open', { onFailure: 'open' }, OK, false],
    ['closed', { onFailure: 'closed' }, 14, true],
    ['closed, as over the limit', { onFailure: 'closed', unavailableStatus: 429 }, 8, true],
  ])('a limiter that fails is %s', async (_, options, expected, tellsWait) => {
    const broken: AnyLimiter = {
      check: () => Promise.reject(new Error('no store')),
      refund: () => Promise.resolve(),
    }
    const { call } = await start([broken, { ...options, onWarning: () => undefined }])
    const { code, trailers } = await call('get')
    expect(code).toBe(expected)
    expect('google.rpc.RetryInfo' in detailsIn(trailers)).toBe(tellsWait)
  })

  it.each<[string, HttpOptions<GrpcRequest>, number]>([
    ['a function that throws is an internal error', { cost: () => JSON.parse('') as number }, 13],
    ['a cost that is none is the clients fault', { cost: () => -1 }, 3],
  ])('%s', async (_, options, expected) => {
    const limiter = limiterOf({ limit: '5/min' })
    const { call, handled } = await start([limiter, { ...options, onWarning: () => undefined }])
    expect((await call('get')).code).toBe(expected)
    expect(handled).toEqual([])
  })

  it('counts by user, by method and by the address that a trusted proxy names', async () => {
    const seen: Attributes[] = []
    const limiter = limiterOf({
      policy: {
        name: 'api',
        rules: [{ name: 'all', by: ['user', 'route', 'ip'], limit: '9/min' }],
      },
    })
    const watched: AnyLimiter = {
      ...limiter,
      check: async (attributes: Attributes | string, cost?: number) => {
        seen.push(attributes as Attributes)
        return limiter.check(attributes, cost)
      },
      refund: async (attributes: Attributes | string) => limiter.refund(attributes),
    }
    const { call } = await start([
      watched,
      { user: (request) => request.header('x-user'), address: { trustedProxies: 'loopback' } },
    ])
    await call('get', { 'x-user': 'ann', 'x-forwarded-for': '192.0.2.7' })
    await call('list', { 'x-user': 'ben', 'x-forwarded-for': '::ffff:192.0.2.8' })
    expect(seen).toMatchObject([
      { user: 'ann', route: '/shop.Orders/Get', ip: '192.0.2.7' },
      { user: 'ben', route: '/shop.Orders/List', ip: '192.0.2.8' },
    ])
  })

  it('counts by the address of the peer, without its port', async () => {
    const limiter = limiterOf({ limit: '2/min' })
    const [one, two] = [await start([limiter]), await start([limiter])]
    expect([(await one.call('get')).code, (await two.call('get')).code]).toEqual([OK, OK])
    expect((await one.call('get')).code).toBe(RESOURCE_EXHAUSTED)
    expect(limiter.peek('127.0.0.1').allowed).toBe(false)
  })

  it('lists the limits of several interceptors', async () => {
    const { call } = await start(
      [limiterOf({ policy: { name: 'a', rules: [{ name: 'a', by: ['ip'], limit: '5/min' }] } })],
      [limiterOf({ policy: { name: 'b', rules: [{ name: 'b', by: ['ip'], limit: '9/min' }] } })],
    )
    const { headers } = await call('get')
    expect(String(headers.get('ratelimit')).match(/"\w"/g)?.toSorted()).toEqual(['"a"', '"b"'])
  })

  it('tells what is left of a call that fails, and charges by its code', async () => {
    const { call } = await start([
      limiterOf({ limit: '5/min' }),
      { after: ({ status }) => (status === NOT_FOUND ? 0 : undefined) },
    ])
    for (const _ of [1, 2]) {
      const { code, details, trailers } = await call('fail')
      expect([code, details]).toEqual([NOT_FOUND, 'no such order'])
      expect(trailers.get('ratelimit')).toEqual(['"default";r=4;t=12'])
    }
    await call('get')
    expect((await call('get')).headers.get('ratelimit')).toEqual(['"default";r=3;t=12'])
  })

  it('holds a call for its delay, and forgets it when the client disconnects', async () => {
    const limiter = limiterOf({
      limit: { algorithm: 'leaky-bucket', quota: 2, window: '1s', burst: 10 },
    })
    const { call, handled } = await start([limiter])
    const begun = performance.now()
    const [first, second, given] = [
      call('get', {}, 'a'),
      call('get', {}, 'b'),
      call('get', {}, 'gone'),
    ]
    await first
    given.cancel()
    await second
    expect(performance.now() - begun).toBeGreaterThan(480)
    // Had it been held on, it would come after a second; the one after 1.5 s comes later still.
    await call('get', {}, 'd')
    expect(handled).toEqual(['a', 'b', 'd'])
  })

  it('clients with a retry policy wait as long as the answer says, then succeed', async () => {
    const limiter = createLimiter({ limit: { quota: 4, window: '1s', burst: 1 } })
    const methodConfig = {
      name: [{}],
      retryPolicy: {
        maxAttempts: 2,
        initialBackoff: '60s',
        maxBackoff: '60s',
        backoffMultiplier: 1,
        retryableStatusCodes: ['RESOURCE_EXHAUSTED'],
      },
    }
    const service = await startGrpc([rateLimit(ServerInterceptingCall, limiter)], {
      'grpc.service_config': JSON.stringify({ methodConfig: [methodConfig] }),
    })
    services.push(service)
    // From before the first call: a busy machine may answer it so late that the second need not wait.
    const begun = performance.now()
    await service.call('get', {}, 'first')
    const { code } = await service.call('get', {}, 'second')
    expect(code).toBe(OK)
    expect(performance.now() - begun).toBeGreaterThan(240)
    expect(service.handled).toEqual(['first', 'second'])
  })

  it('refuses options that it does not know', () => {
    const options = { limit: '1/min', quota: 3 } as never
    expect(() => rateLimit(ServerInterceptingCall, options)).toThrow(/quota/)
  })
})

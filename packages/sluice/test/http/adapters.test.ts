// One suite for all adapters, over real sockets.
import { connect } from 'node:net'
import { parseList } from 'structured-headers'
import { afterEach, describe, expect, it } from 'vitest'
import type { Decision } from '../../src/decision/decision.ts'
import { fromHeader, type AnyLimiter, type HttpWarning } from '../../src/http/index.ts'
import { createLimiter, type LimiterOptions } from '../../src/limiter/create-limiter.ts'
import type { Attributes, Policy } from '../../src/policy/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { ADAPTERS, ROUTES, type Given, type Service } from './adapters.ts'

const NOW = 1_800_000_000_000
const services: Service[] = []

afterEach(async () => {
  for (const service of services.splice(0)) await service.close()
})

const clock = fakeClock(NOW)
const limiterOf = (options: LimiterOptions) =>
  createLimiter({ ...options, store: memoryStore({ clock }) })

/** The limiter as a remote one would answer. */
const remote = (options: LimiterOptions): AnyLimiter => {
  const limiter = limiterOf(options)
  return {
    check: async (attributes: Attributes | string, cost?: number) =>
      limiter.check(attributes, cost),
    refund: async (attributes: Attributes | string, cost?: number, at?: number) =>
      limiter.refund(attributes, cost, at),
  }
}

/** Tells nobody, for tests of what is warned about. */
const quiet = { onWarning: () => undefined }

const policyOf = (...rules: Policy['rules']): { policy: Policy } => ({
  policy: { name: 'api', rules },
})

/** A structured list as names and parameters. */
function listOf(response: Response, name: string): [string, Record<string, number>][] {
  const value = response.headers.get(name)
  if (value === null) return []
  return parseList(value).map(([item, parameters]) => [
    item as string,
    Object.fromEntries(parameters) as Record<string, number>,
  ])
}

describe.each(ADAPTERS)('$name', (adapter) => {
  const start = async (
    guards: readonly Given[],
    where?: 'before' | 'on-route',
  ): Promise<Service> => {
    const service = await adapter.start(guards, where)
    services.push(service)
    return service
  }
  const user = (request: never): string | undefined => adapter.header(request, 'x-user')
  /** How a route is made known to the adapter's guard. */
  const [where, declared] =
    adapter.routes === 'never'
      ? (['before', { routes: ROUTES }] as const)
      : (['on-route', {}] as const)

  it('tells on every response what is left', async () => {
    const { url } = await start([[limiterOf({ limit: '5/min' })]])
    for (const left of [4, 3]) {
      const response = await fetch(`${url}/hello`)
      expect([response.status, await response.text()]).toEqual([200, 'hello'])
      expect(listOf(response, 'RateLimit-Policy')).toEqual([['default', { q: 5, w: 60 }]])
      expect(listOf(response, 'RateLimit')).toEqual([['default', { r: left, t: 12 }]])
      expect(response.headers.get('retry-after')).toBeNull()
    }
  })

  it('refuses with 429, the wait and the problem, and the handler does not run', async () => {
    const { url, handled } = await start([[limiterOf({ limit: '1/min' })]])
    await fetch(`${url}/hello`)
    const response = await fetch(`${url}/hello`)
    expect(response.status).toBe(429)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'retry-after': '60',
      'cache-control': 'no-store',
      'content-type': expect.stringMatching(/^application\/problem\+json/) as string,
      ratelimit: '"default";r=0;t=60',
      'ratelimit-policy': '"default";q=1;w=60',
    })
    expect(await response.json()).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Quota Exceeded',
      status: 429,
      detail: 'Try again in 60 s.',
      'violated-policies': ['default'],
    })
    expect(handled).toEqual(['/hello'])
  })

  it('answers the same through a limiter that takes its time', async () => {
    const { url } = await start([[remote({ limit: '1/min' }), { key: () => 'all' }]])
    const answers = [await fetch(`${url}/hello`), await fetch(`${url}/hello`)]
    expect(answers.map(({ status }) => status)).toEqual([200, 429])
    expect(answers.map((answer) => listOf(answer, 'RateLimit'))).toEqual([
      [['default', { r: 0, t: 60 }]],
      [['default', { r: 0, t: 60 }]],
    ])
  })

  it('counts by user, plan and address as the policy has it, and names several rules', async () => {
    const limiter = limiterOf(
      policyOf(
        {
          name: 'user',
          by: ['user'],
          limit: '3/min',
          tiers: { attribute: 'plan', limits: { pro: '9/min' } },
        },
        { name: 'anonymous', when: { user: 'absent' }, by: ['ip'], limit: '1/min' },
        { name: 'net', by: ['ip'], limit: '100/min' },
        { name: 'secret', by: ['ip'], limit: '200/min', hidden: true },
      ),
    )
    const plan = (request: never): string | undefined => adapter.header(request, 'x-plan')
    const { url } = await start([[limiter, { user, plan }]])
    const rules = async (headers: Record<string, string>) =>
      listOf(await fetch(`${url}/hello`, { headers }), 'RateLimit').map(
        ([name, { r }]) => `${name} ${r}`,
      )
    expect(await rules({ 'x-user': 'ann' })).toEqual(['user 2', 'net 99'])
    expect(await rules({ 'x-user': 'bob', 'x-plan': 'pro' })).toEqual(['user 8', 'net 98'])
    expect(await rules({})).toEqual(['anonymous 0', 'net 97'])
    expect((await fetch(`${url}/hello`)).status).toBe(429)
  })

  it('waits for functions that answer later', async () => {
    const limiter = limiterOf(policyOf({ name: 'user', by: ['user'], limit: '1/min' }))
    const { url } = await start([[limiter, { user: async (request: never) => user(request) }]])
    const get = async (name: string) =>
      (await fetch(`${url}/hello`, { headers: { 'x-user': name } })).status
    expect([await get('ann'), await get('ann'), await get('bob')]).toEqual([200, 429, 200])
  })

  it('takes the cost of a request, and gives no wait for what can never fit', async () => {
    const cost = (request: never): number => Number(adapter.header(request, 'x-cost') ?? 1)
    const { url } = await start([[limiterOf({ limit: '10/min' }), { cost }]])
    const get = (units: number) => fetch(`${url}/hello`, { headers: { 'x-cost': String(units) } })
    expect(listOf(await get(7), 'RateLimit')).toEqual([['default', { r: 3, t: 6 }]])
    const refused = await get(4)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '6'])
    const never = await get(11)
    expect([never.status, never.headers.get('retry-after')]).toEqual([429, null])
    expect(((await never.json()) as { detail: string }).detail).toContain('Waiting does not help')
  })

  it('counts HEAD as GET, with fields and without a body', async () => {
    const limiter = limiterOf(policyOf({ name: 'method', by: ['ip', 'method'], limit: '2/min' }))
    const { url } = await start([[limiter]])
    await fetch(`${url}/hello`)
    const head = await fetch(`${url}/hello`, { method: 'HEAD' })
    expect(listOf(head, 'RateLimit')).toEqual([['method', { r: 0, t: 30 }]])
    const refused = await fetch(`${url}/hello`, { method: 'HEAD' })
    expect([refused.status, refused.headers.get('retry-after'), await refused.text()]).toEqual([
      429,
      '30',
      '',
    ])
  })

  it('gives one key per caller to all ids of a route', async () => {
    const routes = new Set<unknown>()
    const inner = limiterOf(
      policyOf({ name: 'route', by: ['user', 'route', 'method'], limit: '20/min' }),
    )
    const limiter: AnyLimiter = {
      check: (attributes: never, cost?: number) => {
        routes.add((attributes as { route: string }).route)
        return inner.check(attributes, cost)
      },
      refund: inner.refund.bind(inner),
    }
    const { url } = await start([[limiter, { user, ...declared }]], where)
    const get = async (name: string, id: number) =>
      (await fetch(`${url}/orders/${id}`, { headers: { 'x-user': name } })).status
    const statuses = await Promise.all(Array.from({ length: 40 }, (_, id) => get('ann', id)))
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    expect(await get('bob', 1)).toBe(200)
    expect([...routes]).toEqual([adapter.template])
  })

  it('limits what matches no route, as one route', async () => {
    const limiter = limiterOf(policyOf({ name: 'route', by: ['ip', 'route'], limit: '2/min' }))
    const { url } = await start([[limiter, { ...declared, ...quiet }]])
    const get = async (path: string) => (await fetch(url + path)).status
    expect([await get('/a'), await get('/b?c'), await get('/d/e')]).toEqual([404, 404, 429])
  })

  it('writes the fields on errors and on streams', async () => {
    const { url } = await start([[limiterOf({ limit: '9/min' })]])
    const broken = await fetch(`${url}/error`)
    expect([broken.status, listOf(broken, 'RateLimit')]).toEqual([
      500,
      [['default', { r: 8, t: 7 }]],
    ])
    expect(listOf(broken, 'RateLimit-Policy')).toEqual([['default', { q: 9, w: 60 }]])
    const stream = await fetch(`${url}/stream`)
    expect(await stream.text()).toBe('one two three')
    expect(listOf(stream, 'RateLimit')).toEqual([['default', { r: 7, t: 7 }]])
  })

  it('holds a request for the delay of a leaky bucket', async () => {
    const limiter = limiterOf({
      limit: { algorithm: 'leaky-bucket', quota: 5, window: '1s', burst: 2 },
    })
    const { url } = await start([[limiter]])
    await fetch(`${url}/hello`)
    const before = performance.now()
    const held = await fetch(`${url}/hello`)
    // Timers may be early by a millisecond.
    expect(performance.now() - before).toBeGreaterThanOrEqual(199)
    expect([held.status, await held.text()]).toEqual([200, 'hello'])
    expect((await fetch(`${url}/hello`)).status).toBe(429)
  })

  it('lets go of a held request when its client disconnects', async () => {
    const limiter = limiterOf({
      limit: { algorithm: 'leaky-bucket', quota: 3, window: '1s', burst: 3 },
    })
    const { url, handled } = await start([[limiter]])
    await fetch(`${url}/hello`)
    const leaving = fetch(`${url}/hello?gone`, { signal: AbortSignal.timeout(50) })
    await expect(leaving).rejects.toThrow(/abort/)
    // The one that comes after is held longer than the one that left would have been.
    await fetch(`${url}/hello`)
    expect(handled).toEqual(['/hello', '/hello'])
  })

  it('charges failures only, when told so', async () => {
    const limiter = limiterOf({ limit: '2/min' })
    const after = ({ status }: { status: number }): number | undefined =>
      status < 400 ? 0 : undefined
    const { url } = await start([[limiter, { key: () => 'login', after }]])
    const post = async (status: number) => {
      const response = await fetch(`${url}/login?status=${status}`, { method: 'POST' })
      await response.text()
      return response.status
    }
    for (let i = 0; i < 4; i++) {
      expect(await post(200)).toBe(200)
      await expect.poll(() => limiter.peek('login').remaining).toBe(2)
    }
    expect([await post(401), await post(401), await post(200)]).toEqual([401, 401, 429])
  })

  it('takes what a request turns out to have cost', async () => {
    const limiter = limiterOf({ limit: '10/min' })
    const { url } = await start([[limiter, { key: () => 'all', after: () => 4 }]])
    await (await fetch(`${url}/hello`)).text()
    await expect.poll(() => limiter.peek('all').remaining).toBe(6)
    await (await fetch(`${url}/hello`)).text()
    await expect.poll(() => limiter.peek('all').remaining).toBe(2)
    // More than is left takes what is left.
    await (await fetch(`${url}/hello`)).text()
    await expect.poll(() => limiter.peek('all').remaining).toBe(0)
  })

  const broken = (how: 'throws' | 'rejects'): AnyLimiter => ({
    check: (() => {
      if (how === 'throws') throw new Error('no luck')
      return Promise.reject(new Error('no luck'))
    }) as never,
    refund: () => undefined as never,
  })

  it.each(['throws', 'rejects'] as const)(
    'answers by the failure mode when the limiter %s',
    async (how) => {
      const warnings: HttpWarning[] = []
      const onWarning = (warning: HttpWarning): void => void warnings.push(warning)
      const open = await start([[broken(how), { onWarning }]])
      const passed = [await fetch(`${open.url}/hello`), await fetch(`${open.url}/hello`)]
      expect(passed.map(({ status }) => status)).toEqual([200, 200])
      expect(warnings.map(({ code }) => code)).toEqual(['limiter-failed'])
      const closed = await start([[broken(how), { onFailure: 'closed', ...quiet }]])
      const refused = await fetch(`${closed.url}/hello`)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
      expect(await refused.json()).toMatchObject({
        type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
        status: 503,
      })
      expect(closed.handled).toEqual([])
    },
  )

  it('answers 500 when a function of the application fails, and goes on serving', async () => {
    const key = (request: never): string => {
      if (adapter.header(request, 'x-user') === undefined) throw new TypeError('no user')
      return 'user'
    }
    const { url } = await start([[limiterOf({ limit: '9/min' }), { key, ...quiet }]])
    expect((await fetch(`${url}/hello`)).status).toBe(500)
    expect((await fetch(`${url}/hello`, { headers: { 'x-user': 'ann' } })).status).toBe(200)
  })

  it('joins the fields of two guards, and counts once where one is met twice', async () => {
    const one: Given = [limiterOf(policyOf({ name: 'one', by: ['ip'], limit: '5/min' }))]
    const two: Given = [limiterOf(policyOf({ name: 'two', by: ['ip'], limit: '7/min' }))]
    const { url } = await start([one, two, one])
    const response = await fetch(`${url}/hello`)
    const names = (field: string): string[] =>
      listOf(response, field).map(([name, { r }]) => (r === undefined ? name : `${name} ${r}`))
    expect(new Set(names('RateLimit'))).toEqual(new Set(['one 4', 'two 6']))
    expect(names('RateLimit')).toHaveLength(2)
    expect(new Set(names('RateLimit-Policy'))).toEqual(new Set(['one', 'two']))
  })

  it('limits by a function of the attributes, which may come later', async () => {
    const limit = ({ most }: { most?: unknown }) => `${Number(most)}/min`
    const rule = { name: 'own', by: ['user'], limit }
    const limiter = createLimiter({
      policy: { name: 'p', rules: [rule] },
      store: memoryStore({ clock }),
    })
    const user = (request: never) => adapter.header(request, 'x-user')
    const attributes = async (request: never) => ({ most: user(request) === 'gold' ? 2 : 1 })
    const { url } = await start([[limiter, { user, attributes }]])
    const get = async (name: string) =>
      (await fetch(`${url}/hello`, { headers: { 'x-user': name } })).status
    expect([await get('gold'), await get('gold'), await get('gold')]).toEqual([200, 200, 429])
    expect([await get('ann'), await get('ann')]).toEqual([200, 429])
  })

  it('lets requests go on uncounted that skip names', async () => {
    const skip = (request: never): boolean => adapter.header(request, 'x-user') === 'probe'
    const limiter = limiterOf({ limit: '1/min' })
    const { url } = await start([[limiter, { skip, key: () => 'all' }]])
    await fetch(`${url}/hello`, { headers: { 'x-user': 'probe' } })
    expect(limiter.peek('all').remaining).toBe(1)
  })

  const preflight = {
    method: 'OPTIONS',
    headers: { origin: 'http://a.example', 'access-control-request-method': 'GET' },
  }

  it('counts preflights, unless they are not to count', async () => {
    const counted = limiterOf({ limit: '1/min' })
    const { url } = await start([[counted, { key: () => 'all' }]])
    await fetch(`${url}/login`, preflight)
    expect(counted.peek('all').remaining).toBe(0)
    const uncounted = limiterOf({ limit: '1/min' })
    const other = await start([[uncounted, { countPreflights: false, key: () => 'all' }]])
    for (let i = 0; i < 3; i++)
      expect((await fetch(`${other.url}/login`, preflight)).status).not.toBe(429)
    expect(uncounted.peek('all').remaining).toBe(1)
  })

  it('refuses preflights of blocked clients, counted or not', async () => {
    const blocked = {
      check: () => ({ ...BLOCKED }),
      refund: () => undefined,
    } as unknown as AnyLimiter
    for (const countPreflights of [true, false]) {
      const { url } = await start([[blocked, { countPreflights, key: () => 'all' }]])
      const refused = await fetch(`${url}/login`, preflight)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '7'])
    }
  })

  it('refuses a request that has an identity field twice, or spells it with an underscore', async () => {
    const limiter = limiterOf(policyOf({ name: 'key', by: ['apiKey'], limit: '1/min' }))
    const { url } = await start([[limiter, { apiKey: fromHeader('X-Api-Key'), ...quiet }]])
    const send = (...lines: string[]) => statusOf(url, '/hello', lines)
    expect(await send('X-Api-Key: valid')).toBe(200)
    expect(await send('X-Api-Key: valid')).toBe(429)
    expect(await send('X-Api-Key: valid', 'X-Api-Key: junk')).toBe(400)
    expect(await send('X_Api_Key: valid')).toBe(400)
    expect(await send('X-Api-Key: junk', 'x_api-key: valid')).toBe(400)
    expect(await send('X-Api-Key: other')).toBe(200)
    expect(await send()).toBe(200)
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a refusal without outcomes', { allowed: false }],
    ['a refusal with half an outcome', { allowed: false, outcomes: [{ rule: 'a' }] }],
    ['an allowance without outcomes', { allowed: true }],
    ['a decision without an answer', { outcomes: [] }],
    ['a string', 'allowed'],
  ])('survives a limiter that returns %s', async (_, decision) => {
    const isRefusal = (decision as { allowed?: boolean } | null)?.allowed === false
    for (const answer of [() => decision, () => Promise.resolve(decision)]) {
      const limiter = { check: answer, refund: () => undefined } as unknown as AnyLimiter
      const warnings: HttpWarning[] = []
      const onWarning = (warning: HttpWarning): void => void warnings.push(warning)
      const open = await start([[limiter, { key: () => 'all', onWarning }]])
      expect((await fetch(`${open.url}/hello`)).status).toBe(isRefusal ? 503 : 200)
      expect(warnings.map(({ code }) => code)).toEqual(['limiter-failed'])
      const closed = await start([[limiter, { key: () => 'all', onFailure: 'closed', ...quiet }]])
      expect((await fetch(`${closed.url}/hello`)).status).toBe(503)
    }
  })

  it('refuses a delay above maxDelay, tells when to return, and charges nothing', async () => {
    const limiter = limiterOf({
      limit: { algorithm: 'leaky-bucket', quota: 1, window: '100s', burst: 3 },
    })
    const { url } = await start([[limiter, { key: () => 'all', maxDelay: '30s' }]])
    expect((await fetch(`${url}/hello`)).status).toBe(200)
    const before = limiter.peek('all').remaining
    const refused = await fetch(`${url}/hello`)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '70'])
    expect(await refused.json()).toMatchObject({ 'violated-policies': ['default'] })
    expect(limiter.peek('all').remaining).toBe(before)
  })

  it('hands every decision to onDecision, and goes on when that fails', async () => {
    const seen: unknown[] = []
    const onDecision = (decision: Decision, request: never): void => {
      seen.push([decision.allowed, adapter.header(request, 'x-user')])
      throw new Error('no luck')
    }
    const options = { key: () => 'all', onDecision, ...quiet }
    const { url } = await start([[limiterOf({ limit: '1/min' }), options]])
    const get = async () => (await fetch(`${url}/hello`, { headers: { 'x-user': 'ann' } })).status
    expect([await get(), await get()]).toEqual([200, 429])
    expect(seen).toEqual([
      [true, 'ann'],
      [false, 'ann'],
    ])
  })

  it.each<[string, unknown, number, string, string]>([
    ['another status', { status: 420 }, 420, 'application/problem+json', '"Quota Exceeded"'],
    ['text', { body: 'Slow down.' }, 429, 'text/plain', 'Slow down.'],
    ['HTML', { headers: { 'content-type': 'text/html' }, body: '<p>' }, 429, 'text/html', '<p>'],
    ['JSON', { status: 418, body: { tea: true } }, 418, 'application/json', '{"tea":true}'],
    ['a redirect', { status: 303, headers: { location: '/wait' } }, 303, 'application', ''],
    ['nothing', undefined, 429, 'application/problem+json', '"Quota Exceeded"'],
  ])('lets onRefused answer with %s', async (_, reply, status, type, body) => {
    for (const answer of [() => reply, () => Promise.resolve(reply)]) {
      const onRefused = (decision: Decision | null) => {
        expect(decision?.allowed).toBe(false)
        return answer() as never
      }
      const limiter = limiterOf({ limit: '1/min' })
      const { url, handled } = await start([[limiter, { key: () => 'all', onRefused, ...quiet }]])
      await fetch(`${url}/hello`)
      const refused = await fetch(`${url}/hello`, { redirect: 'manual' })
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([status, '60'])
      expect(refused.headers.get('content-type')).toContain(type)
      expect(refused.headers.get('ratelimit')).toBe('"default";r=0;t=60')
      expect(await refused.text()).toContain(body)
      expect(handled).toEqual(['/hello'])
    }
  })

  it.each(['throws', 'rejects'])('never goes on when onRefused %s', async (how) => {
    const onRefused = (): never => {
      const error = new Error('no luck')
      if (how === 'throws') throw error
      return Promise.reject(error) as never
    }
    const limiter = limiterOf({ limit: '1/min' })
    const { url, handled } = await start([[limiter, { key: () => 'all', onRefused, ...quiet }]])
    await fetch(`${url}/hello`)
    const { status } = await fetch(`${url}/hello`)
    expect(adapter.answersErrors ? status : 500).toBe(500)
    expect(status).not.toBe(200)
    expect(handled).toEqual(['/hello'])
  })

  it('counts a path that servers read differently as every route that it may be', async () => {
    const limiter = limiterOf(policyOf({ name: 'route', by: ['ip', 'route'], limit: '2/min' }))
    const { url } = await start([[limiter, { routes: ROUTES, ...quiet }]])
    const codes: number[] = []
    for (let i = 0; i < 3; i++) codes.push(await statusOf(url, '/x/..%2f..%2flogin', []))
    expect(codes[2]).toBe(429)
  })

  it('refuses such a path with 400 by that option', async () => {
    const options = { ambiguousPaths: 'refuse', ...quiet } as const
    const { url } = await start([[limiterOf({ limit: '9/min' }), options]])
    expect(await statusOf(url, '/hello%2f', [])).toBe(400)
    expect(await statusOf(url, '/hello;x=1', [])).toBe(400)
    expect(await statusOf(url, '/hello?x=/../;', [])).toBe(200)
  })
})

/** What a blocked client's decision looks like. */
const BLOCKED: Decision = {
  allowed: false,
  reason: 'blocked',
  rule: null,
  limit: null,
  remaining: 0,
  retryAfter: 7000,
  resetAfter: 7000,
  delay: 0,
  at: 0,
  degraded: false,
  outcomes: [],
  skipped: [],
}

/** The status for a request line and header lines as they are, which no client library would send. */
function statusOf(url: string, target: string, lines: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const head = [`GET ${target} HTTP/1.1`, 'Host: host', 'Connection: close', ...lines]
    let answer = ''
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
      socket.write(`${head.join('\r\n')}\r\n\r\n`),
    )
    socket
      .on('data', (data) => (answer += String(data)))
      .on('close', () => resolve(Number(answer.split(' ')[1])))
      .on('error', reject)
  })
}

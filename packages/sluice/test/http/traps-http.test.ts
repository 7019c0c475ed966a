// Traps of HTTP adapters, found in published limiters.
import { parseList } from 'structured-headers'
import { describe, expect, it } from 'vitest'
import type { AnyLimiter, HttpOptions, HttpWarning } from '../../src/http/index.ts'
import { apiKeyHash, decisionOf } from '../../src/http/index.ts'
import { rateLimit } from '../../src/http/node.ts'
import { retryAfterSeconds } from '../../src/http/refusal-reply.ts'
import { createLimiter, type LimiterOptions } from '../../src/limiter/create-limiter.ts'
import type { Attributes } from '../../src/policy/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { listening, serving } from './serving.ts'

const clock = fakeClock(1_800_000_000_000)
const limiterOf = (options: LimiterOptions) =>
  createLimiter({ ...options, store: memoryStore({ clock }) })

/** Remembers what a limiter is asked. */
function watched(limiter: ReturnType<typeof limiterOf>): {
  limiter: AnyLimiter
  asked: (Attributes | string)[]
} {
  const asked: (Attributes | string)[] = []
  const check = (attributes: Attributes | string, cost?: number) => {
    asked.push(attributes)
    return limiter.check(attributes, cost)
  }
  return { limiter: { check, refund: limiter.refund.bind(limiter) }, asked }
}

const statuses = async (url: string, requests: readonly RequestInit[]): Promise<number[]> => {
  const all: number[] = []
  for (const request of requests) all.push((await fetch(url, request)).status)
  return all
}

describe('time in headers', () => {
  it('trap: Retry-After of 0, of a fraction, rounded down, or -1 from a limiter that says never', () => {
    for (const [wait, seconds] of [
      [0, 1],
      [1, 1],
      [999, 1],
      [1000, 1],
      [1001, 2],
      [59_999, 60],
      [null, undefined],
    ] as const)
      expect(retryAfterSeconds(wait, 0)).toBe(seconds)
  })

  it('trap: those who are refused together are told to come back together', () => {
    const told = new Set(Array.from({ length: 200 }, () => retryAfterSeconds(1500, 10_000)))
    expect(told.size).toBeGreaterThan(5)
    expect(Math.min(...(told as Set<number>))).toBeGreaterThanOrEqual(2)
    expect(Math.max(...(told as Set<number>))).toBeLessThanOrEqual(12)
  })

  it('trap: milliseconds in a field of seconds; the wait in the header is one that is kept', async () => {
    const own = fakeClock(1_800_000_000_000)
    const limiter = createLimiter({
      limit: { quota: 3, window: 1700 },
      store: memoryStore({ clock: own }),
    })
    const url = await serving(limiter)
    await statuses(url, [{}, {}, {}])
    const refused = await fetch(url)
    const seconds = Number(refused.headers.get('retry-after'))
    expect([refused.status, seconds]).toEqual([429, 1])
    own.advance(seconds * 1000)
    expect((await fetch(url)).status).toBe(200)
  })

  it('trap: Retry-After before the t of the same response', async () => {
    const url = await serving(limiterOf({ limit: '3/min' }), { cost: 3 })
    await fetch(url)
    const { headers } = await fetch(url)
    const [[, parameters]] = parseList(headers.get('ratelimit')!) as [
      [unknown, Map<string, number>],
    ]
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(parameters.get('t')!)
  })

  it('trap: a window rounded down to 0, integers of more than 15 digits', async () => {
    const url = await serving(limiterOf({ limit: { quota: 4_000_000_000_000_000, window: 1 } }))
    expect((await fetch(url)).headers.get('ratelimit-policy')).toBe(
      '"default";q=999999999999999;w=1',
    )
  })
})

describe('who it is', () => {
  it('trap: the leftmost entry of X-Forwarded-For, which anybody can write', async () => {
    const address = { trustedProxies: 'loopback' }
    const url = await serving(limiterOf({ limit: '1/min' }), { address })
    const from = (list: string) => ({ headers: { 'x-forwarded-for': list } })
    expect(
      await statuses(url, [from('6.6.6.6, 203.0.113.9'), from('7.7.7.7, 203.0.113.9')]),
    ).toEqual([200, 429])
  })

  it('trap: a header believed although no proxy is trusted; it is reported once', async () => {
    const warnings: HttpWarning[] = []
    const url = await serving(limiterOf({ limit: '1/min' }), {
      onWarning: (warning) => void warnings.push(warning),
    })
    const from = (ip: string) => ({ headers: { 'x-forwarded-for': ip, forwarded: `for=${ip}` } })
    expect(await statuses(url, [from('1.1.1.1'), from('2.2.2.2'), from('3.3.3.3')])).toEqual([
      200, 429, 429,
    ])
    expect(warnings.map(({ code }) => code)).toEqual(['proxy-header-ignored'])
  })

  it('trap: port or zone in the key, full IPv6 addresses, IPv4-mapped beside IPv4', async () => {
    const { limiter, asked } = watched(
      limiterOf({ policy: { name: 'a', rules: [{ name: 'ip', by: ['ip'], limit: '99/min' }] } }),
    )
    const url = await serving(limiter, { address: { trustedProxies: 'loopback' } })
    for (const ip of [
      '198.51.100.7:1',
      '198.51.100.7:2',
      '::ffff:198.51.100.7',
      '[64:ff9b::198.51.100.7]:443',
    ])
      await fetch(url, { headers: { 'x-forwarded-for': ip } })
    for (const ip of [
      '2001:db8:0:17::1',
      '2001:db8:0:18::2',
      '[2001:db8:0:19::3]:80',
      '2001:db8:0:20::4%eth0',
    ])
      await fetch(url, { headers: { 'x-forwarded-for': ip } })
    expect(new Set(asked.map((attributes) => (attributes as Attributes)['ip']))).toEqual(
      new Set(['198.51.100.7', '2001:db8::']),
    )
  })

  it('trap: on a socket for both families, the same client twice', async () => {
    const { limiter, asked } = watched(
      limiterOf({ policy: { name: 'a', rules: [{ name: 'ip', by: ['ip'], limit: '99/min' }] } }),
    )
    await fetch(await serving(limiter, {}, undefined, '::'))
    await fetch(await serving(limiter, {}, undefined, '127.0.0.1'))
    expect(asked.map((attributes) => (attributes as Attributes)['ip'])).toEqual([
      '127.0.0.1',
      '127.0.0.1',
    ])
  })

  it.each<[HttpOptions<never>['unknownAddress'], number[]]>([
    ['skip', [200, 200, 200]],
    ['refuse', [400, 400, 400]],
    ['share', [200, 429, 429]],
  ])(
    'trap: all who have no address in one bucket by accident; %s is what happens',
    async (unknownAddress, expected) => {
      const warnings: HttpWarning[] = []
      const options = {
        address: () => undefined,
        unknownAddress,
        onWarning: (warning: HttpWarning) => void warnings.push(warning),
      }
      const url = await serving(limiterOf({ limit: '1/min' }), options as never)
      expect(await statuses(url, [{}, {}, {}])).toEqual(expected)
      expect(warnings.map(({ code }) => code)).toEqual(
        unknownAddress === 'share' ? [] : ['address-unknown'],
      )
    },
  )

  it('trap: a string that is no address, from a function, is a way past the limit; the peer counts', async () => {
    const url = await serving(limiterOf({ limit: '1/min' }), {
      address: ({ headers }) => headers['x-real-ip'] as string | undefined,
      onWarning: () => undefined,
    })
    const from = (ip: string) => ({ headers: { 'x-real-ip': ip } })
    expect(
      await statuses(url, [from('6.6.6.6, 192.0.2.1'), from('unknown'), from('192.0.2.1')]),
    ).toEqual([200, 200, 429])
  })

  it('trap: raw API keys in keys and logs', async () => {
    const rules = [{ name: 'key', by: ['apiKey'], limit: '5/min' }] as const
    const { limiter, asked } = watched(limiterOf({ policy: { name: 'a', rules } }))
    const url = await serving(limiter, { apiKey: ({ headers }) => headers.authorization })
    await fetch(url, { headers: { authorization: 'sk_live_1' } })
    expect(asked).toMatchObject([{ apiKey: apiKeyHash('sk_live_1') }])
    expect(JSON.stringify(asked)).not.toContain('sk_live_1')
  })

  it('trap: a user and an address, or a user and an API key, that share a count by their text', async () => {
    const { limiter, asked } = watched(limiterOf({ limit: '9/min' }))
    const given = { user: () => '127.0.0.1' }
    const bare = createLimiter({ limit: '1/min', store: memoryStore({ clock }) })
    const url = await serving(bare, {
      user: ({ headers }) => headers['x-user'] as string | undefined,
    })
    expect(await statuses(url, [{}, { headers: { 'x-user': '127.0.0.1' } }, {}])).toEqual([
      200, 200, 429,
    ])
    await fetch(await serving(limiter, given))
    expect(asked).toMatchObject([{ user: '127.0.0.1', key: 'user:127.0.0.1' }])
  })

  it.each<[string, unknown]>([
    ['an object', { a: 1 }],
    ['too long a text', 'x'.repeat(70_000)],
    ['not a number', Number.NaN],
  ])('trap: a name that cannot be counted is a way past the limit (%s)', async (_, account) => {
    const rules = [{ name: 'login', by: ['account'], limit: '1/min' }] as const
    const onWarning = (): void => undefined
    const url = await serving(limiterOf({ policy: { name: 'a', rules } }), {
      attributes: () => ({ account }) as Attributes,
      onWarning,
    })
    expect((await fetch(url)).status).toBe(400)
  })
})

describe('header fields', () => {
  it('trap: names with quotes, non-ASCII characters or line breaks', async () => {
    const name = String.raw`a"b\c; q=0`
    const url = await serving(
      limiterOf({ policy: { name: 'a', rules: [{ name, by: ['ip'], limit: '1/min' }] } }),
    )
    expect(parseList((await fetch(url)).headers.get('ratelimit')!).map(([item]) => item)).toEqual([
      name,
    ])
    expect(await (await fetch(url)).json()).toMatchObject({ 'violated-policies': [name] })
    // From a limiter that does not check its names.
    const inner = limiterOf({ limit: '5/min' })
    const hostile: AnyLimiter = {
      check: (...args: Parameters<typeof inner.check>) => {
        const decision = inner
          .check('key', args[1])
          .outcomes.map((outcome) => ({ ...outcome, rule: 'x"\r\nset-cookie: é=1' }))
        return {
          ...(inner.peek('key') as object),
          allowed: true,
          delay: 0,
          outcomes: decision,
        } as never
      },
      refund: () => undefined,
    }
    const { status, headers } = await fetch(await serving(hostile))
    expect([status, headers.get('set-cookie'), headers.get('ratelimit')]).toEqual([
      200,
      null,
      String.raw`"x\"??set-cookie: ?=1";r=4;t=12`,
    ])
  })

  it('trap: fields of hidden rules, or their names in the refusal', async () => {
    const rules = [
      { name: 'open', by: ['ip'], limit: '9/min' },
      { name: 'secret', by: ['ip'], limit: '1/min', hidden: true },
      { name: 'trial', by: ['ip'], limit: '1/min', shadow: true },
    ] as const
    const url = await serving(limiterOf({ policy: { name: 'a', rules } }))
    await fetch(url)
    const refused = await fetch(url)
    const text = JSON.stringify([...refused.headers, await refused.text()])
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect(text).toContain('open')
    expect(text).not.toMatch(/secret|trial/)
  })

  it('trap: fields added after the head was sent end the process; the request is left alone', async () => {
    const warnings: HttpWarning[] = []
    const limit = rateLimit(limiterOf({ limit: '1/min' }), {
      onWarning: (warning) => void warnings.push(warning),
    })
    const url = await listening((request, response) => {
      response.write('early, ')
      limit(request, response as never, () => void response.end('and done'))
    })
    expect(await (await fetch(url)).text()).toBe('early, and done')
    expect(warnings.map(({ code }) => code)).toEqual(['headers-sent'])
  })

  it('trap: a 429 that a cache keeps', async () => {
    const url = await serving(limiterOf({ limit: '0/min' }))
    expect((await fetch(url)).headers.get('cache-control')).toBe('no-store')
  })

  it('trap: r=0 on a redirect; it says no more than the truth, and no wait beside it', async () => {
    const url = await serving(
      limiterOf({ limit: '1/min' }),
      {},
      (_, response) => void response.writeHead(303, { location: '/next' }).end(),
    )
    const { status, headers } = await fetch(url, { redirect: 'manual' })
    expect([status, headers.get('ratelimit'), headers.get('retry-after')]).toEqual([
      303,
      '"default";r=0;t=60',
      null,
    ])
  })

  it('trap: scripts of other origins see no fields', async () => {
    const url = await serving(limiterOf({ limit: '9/min' }), {
      exposeHeaders: true,
      headers: ['structured', 'x-ratelimit-epoch'],
    })
    expect((await fetch(url)).headers.get('access-control-expose-headers')).toBe(
      'Retry-After, RateLimit-Policy, RateLimit, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset',
    )
  })

  it('trap: scripts of other origins do not see the wait of a refusal that tells nothing else', async () => {
    const rules = [{ name: 'secret', by: ['ip'], limit: '1/min', hidden: true }] as const
    const limiter = limiterOf({ policy: { name: 'a', rules } })
    for (const headers of ['structured', false] as const) {
      const url = await serving(limiter, { exposeHeaders: true, headers })
      await fetch(url)
      const refused = await fetch(url)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
      expect(refused.headers.get('access-control-expose-headers')).toMatch(/^Retry-After/)
    }
  })

  it('trap: partition keys that tell who the client is, or the same for everybody', async () => {
    const rules = [
      { name: 'user', by: ['user'], limit: '99/min' },
      { name: 'all', by: [], limit: '99/min' },
    ] as const
    const user = ({ headers }: { headers: Record<string, unknown> }) => headers['x-user'] as string
    const url = await serving(limiterOf({ policy: { name: 'a', rules } }), {
      user,
      partitionKeys: { secret: 'sixteen letters!' },
    })
    const keyOf = async (name: string) =>
      /;pk=:([\w+/]{12}):, "all";r=\d+;t=\d+$/.exec(
        (await fetch(url, { headers: { 'x-user': name } })).headers.get('ratelimit')!,
      )?.[1]
    const [ann, again, bob] = [await keyOf('ann'), await keyOf('ann'), await keyOf('bob')]
    expect(ann).toBeTypeOf('string')
    expect([again === ann, bob === ann]).toEqual([true, false])
  })
})

describe('what is counted', () => {
  it('trap: a login refunded because its client left before there was an answer', async () => {
    const limiter = limiterOf({ limit: '5/min' })
    const after = ({ status }: { status: number }): number | undefined =>
      status < 400 ? 0 : undefined
    const client = new AbortController()
    let closed: () => void
    const whenClosed = new Promise<void>((resolve) => (closed = resolve))
    const url = await serving(limiter, { key: () => 'all', after }, (_, response) => {
      response.once('close', () => closed())
      client.abort()
    })
    await expect(fetch(url, { signal: client.signal })).rejects.toThrow(/abort/)
    await whenClosed
    await new Promise((resolve) => setImmediate(resolve))
    expect(limiter.peek('all').remaining).toBe(4)
  })

  it('trap: a refund into another window than the charge', async () => {
    const own = fakeClock(1_800_000_000_000)
    const limit = { quota: 5, window: '1min', algorithm: 'fixed-window' } as const
    const limiter = createLimiter({ limit, store: memoryStore({ clock: own }) })
    const options = { key: () => 'all', after: () => 0 }
    const over = new Promise<void>((resolve) => {
      const url = serving(limiter, options, (_, response) => {
        own.advance(60_000)
        limiter.check('all', 3)
        response.once('close', resolve).end()
      })
      void url.then((url) => fetch(url))
    })
    await over
    expect(limiter.peek('all').remaining).toBe(2)
  })

  it('trap: method override and HEAD make keys of their own', async () => {
    const rules = [{ name: 'method', by: ['ip', 'method'], limit: '2/min' }] as const
    const url = await serving(limiterOf({ policy: { name: 'a', rules } }))
    const override = { headers: { 'x-http-method-override': 'DELETE' } }
    expect(await statuses(url, [{}, override, { method: 'HEAD' }])).toEqual([200, 200, 429])
  })

  it('trap: the decision cannot be seen by the handler', async () => {
    const url = await serving(
      limiterOf({ limit: '9/min' }),
      {},
      (request, response) => void response.end(String(decisionOf(request)?.remaining)),
    )
    expect(await (await fetch(url)).text()).toBe('8')
    expect(decisionOf({})).toBeUndefined()
  })
})

describe('when the limiter fails', () => {
  it('trap: a store failure refuses as if the client had asked too much', async () => {
    const unavailable = { allowed: false, reason: 'unavailable', retryAfter: 2500, outcomes: [] }
    const limiter = { check: () => unavailable, refund: () => undefined } as unknown as AnyLimiter
    const { status, headers } = await fetch(await serving(limiter))
    expect([status, headers.get('retry-after')]).toEqual([503, '3'])
    expect((await fetch(await serving(limiter, { unavailableStatus: 429 }))).status).toBe(429)
  })

  it('trap: a policy whose rules say closed lets everything through', async () => {
    const store = {
      take: () => Promise.reject(new Error('gone')),
      peek: () => Promise.reject(new Error('gone')),
      refund: async () => undefined,
      reset: async () => undefined,
      close: async () => undefined,
    }
    const rules = [{ name: 'ip', by: ['ip'], limit: '9/min', onStoreFailure: 'closed' }] as const
    const limiter = createLimiter({ policy: { name: 'a', rules }, store, resilience: false })
    expect((await fetch(await serving(limiter, { onWarning: () => undefined }))).status).toBe(503)
    expect(
      (await fetch(await serving(limiter, { onFailure: 'open', onWarning: () => undefined })))
        .status,
    ).toBe(200)
  })

  it('trap: late charges that nobody can take end the process', async () => {
    const inner = limiterOf({ limit: '9/min' })
    const check = (attributes: Attributes | string) => inner.check(attributes)
    const limiter = { check, refund: () => Promise.reject(new Error('gone')) } as never
    const warnings: string[] = []
    const url = await serving(limiter, {
      key: () => 'all',
      after: () => 0,
      onWarning: ({ code }) => void warnings.push(code),
    })
    await (await fetch(url)).text()
    await expect.poll(() => warnings).toEqual(['limiter-failed'])
  })
})

import { describe, expect, it } from 'vitest'
import { seeded } from '../../test/client/simulated-server.ts'
import { createLimiter } from '../limiter/create-limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeTimers, type FakeTimers } from '../testing/fake-timers.ts'
import type { GiveUpEvent, GiveUpReason, PoliteOptions } from './polite-options.ts'
import { polite, type Fetch } from './polite.ts'

const START = Date.UTC(2026, 10, 16, 12, 0, 0)
const URL_ = 'https://api.test/things'
type Reply = number | [number, Record<string, string>]

/** A fetch that answers from a list, repeating the last entry, and records each call. */
function scripted(timers: FakeTimers, replies: readonly Reply[]) {
  const sent: number[] = []
  const bodies: string[] = []
  const fetch: Fetch = async (input, init) => {
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined)
    signal?.throwIfAborted()
    sent.push(timers.clock() - START)
    bodies.push(await new Request(input, { ...init, duplex: 'half' } as RequestInit).text())
    const reply = replies[Math.min(sent.length, replies.length) - 1]!
    const [status, headers] = typeof reply === 'number' ? [reply, {}] : reply
    return new Response('why', { status, headers })
  }
  return { fetch, sent, bodies }
}

function setUp(replies: readonly Reply[], options: PoliteOptions = {}) {
  const timers = fakeTimers(START)
  const server = scripted(timers, replies)
  const send = polite(server.fetch, { timers, random: () => 0, ...options })
  /** The status of one call, after all its waits. */
  const status = async (
    input: Parameters<Fetch>[0] = URL_,
    init?: RequestInit,
  ): Promise<number> => {
    const answer = send(input, init)
    answer.catch(() => {})
    for (let i = 0; i < 20; i++) await timers.advance(3_600_000)
    return (await answer).status
  }
  return { timers, send, status, ...server }
}

describe('polite sends', () => {
  it.each<[string, Reply[], PoliteOptions, number[], number]>([
    ['once after a 200', [200], {}, [0], 200],
    ['once after a status that is not retried', [500, 200], {}, [0], 500],
    [
      'by the backoff if the server names no wait',
      [429, 429, 503, 200],
      { jitter: 'none' },
      [0, 500, 1500, 3500],
      200,
    ],
    ['at most attempts times', [429], { jitter: 'none', attempts: 3 }, [0, 500, 1500], 429],
    ['once with one attempt', [429], { attempts: 1 }, [0], 429],
    ['not before Retry-After', [[429, { 'retry-after': '7' }], 200], {}, [0, 7000], 200],
    [
      'not before a date by the server’s clock',
      [
        [
          503,
          { 'retry-after': 'Mon, 16 Nov 2026 11:00:09 GMT', date: 'Mon, 16 Nov 2026 11:00:00 GMT' },
        ],
        200,
      ],
      {},
      [0, 9000],
      200,
    ],
    [
      'after Retry-After and the backoff of the attempt',
      [[429, { 'retry-after': '7' }], [429, { 'retry-after': '1' }], 200],
      { jitter: 'none' },
      [0, 7500, 9500],
      200,
    ],
    ['when a spent quota is reset', [[429, { ratelimit: '"a";r=0;t=4' }], 200], {}, [0, 4000], 200],
    [
      'at the reset after a 429 with RateLimit-Policy beside X-RateLimit-Reset',
      [[429, { 'ratelimit-policy': '"a";q=100;w=60', 'x-ratelimit-reset': '7' }], 200],
      {},
      [0, 7000],
      200,
    ],
    [
      'again after GitHub’s 403 with a spent quota',
      [
        [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(START / 1000 + 30) }],
        200,
      ],
      {},
      [0, 30_000],
      200,
    ],
    [
      'again after GitHub’s 403 with Retry-After',
      [[403, { 'retry-after': '60' }], 200],
      {},
      [0, 60_000],
      200,
    ],
    ['once after a 403 without a limit', [403, 200], {}, [0], 403],
    [
      'when OpenAI’s duration is over',
      [[429, { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m0s' }], 200],
      {},
      [0, 60_000],
      200,
    ],
    [
      'after Shopify’s fraction of a second',
      [[429, { 'retry-after': '2.0' }], 200],
      {},
      [0, 2000],
      200,
    ],
    [
      'once if Stripe says not to retry',
      [[429, { 'stripe-should-retry': 'false' }], 200],
      {},
      [0],
      429,
    ],
    [
      'again if Stripe says to retry',
      [[409, { 'stripe-should-retry': 'true' }], 200],
      {},
      [0, 0],
      200,
    ],
    ['once after a hint of ten years', [[429, { 'retry-after': '315360000' }], 200], {}, [0], 429],
    [
      'once after a hint of 400 digits',
      [[429, { 'retry-after': '9'.repeat(400) }], 200],
      {},
      [0],
      429,
    ],
    [
      'once after a hint of a far instant',
      [[429, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '99999999999999999999' }], 200],
      {},
      [0],
      429,
    ],
    [
      'by the backoff after hints that are not numbers',
      [[429, { 'retry-after': '-5' }], [429, { 'retry-after': 'NaN' }], 200],
      { jitter: 'none' },
      [0, 500, 1500],
      200,
    ],
    [
      'after hints up to the total time, not beyond',
      [[429, { 'retry-after': '30' }], [429, { 'retry-after': '31' }], 200],
      { totalTime: '1min' },
      [0, 30_000],
      429,
    ],
  ])('%s', async (_, replies, options, sent, status) => {
    const set = setUp(replies, options)
    expect(await set.status()).toBe(status)
    expect(set.sent).toEqual(sent)
    expect(set.timers.pending).toBe(0)
  })

  it('caps the backoff at 60 s', async () => {
    const set = setUp([429], { jitter: 'none', base: '40s', attempts: 5, totalTime: '1h' })
    await set.status()
    expect(set.sent).toEqual([0, 40_000, 100_000, 160_000, 220_000])
  })

  it('draws the wait from 0 to the ceiling, on top of a hint', async () => {
    const set = setUp([[429, { 'retry-after': '1' }], 429, 200], { random: () => 0.5 })
    await set.status()
    expect(set.sent).toEqual([0, 1250, 1750])
  })
})

describe('polite sends again', () => {
  const body = '{"a":1}'
  const stream = (): ReadableStream => new Blob([body]).stream()
  it.each<[string, Parameters<Fetch>[0], () => RequestInit, PoliteOptions, number]>([
    ['GET', URL_, () => ({}), {}, 2],
    ['a URL object', new URL(URL_), () => ({ method: 'HEAD' }), {}, 2],
    ['PUT with a string', URL_, () => ({ method: 'PUT', body }), {}, 2],
    ['DELETE', URL_, () => ({ method: 'delete' }), {}, 2],
    ['no POST', URL_, () => ({ method: 'POST', body }), {}, 1],
    ['no PATCH', URL_, () => ({ method: 'PATCH', body }), {}, 1],
    [
      'POST with an idempotency key',
      URL_,
      () => ({ method: 'POST', body, headers: { 'Idempotency-Key': 'x' } }),
      {},
      2,
    ],
    ['POST if `retry` allows it', URL_, () => ({ method: 'POST', body }), { retry: () => true }, 2],
    ['GET, unless `retry` forbids it', URL_, () => ({}), { retry: () => false }, 1],
    [
      'no stream, even if `retry` allows it',
      URL_,
      () => ({ method: 'PUT', body: stream(), duplex: 'half' }) as RequestInit,
      { retry: () => true },
      1,
    ],
    ['bytes', URL_, () => ({ method: 'PUT', body: new TextEncoder().encode(body) }), {}, 2],
    ['a blob', URL_, () => ({ method: 'PUT', body: new Blob([body]) }), {}, 2],
    ['a form', URL_, () => ({ method: 'PUT', body: new URLSearchParams({ a: '1' }) }), {}, 2],
  ])('%s', async (_, input, init, options, times) => {
    const set = setUp([429, 200], options)
    await set.status(input, init())
    expect(set.sent).toHaveLength(times)
    expect(new Set(set.bodies).size).toBe(1)
  })

  it('a Request with its body', async () => {
    const set = setUp([429, 503, 200])
    expect(await set.status(new Request(URL_, { method: 'PUT', body }))).toBe(200)
    expect(set.bodies).toEqual([body, body, body])
  })

  it('a Request with its body if init.body is null', async () => {
    const set = setUp([429, 200])
    const request = new Request(URL_, { method: 'PUT', body })
    expect(await set.status(request, { body: null })).toBe(200)
    expect(set.bodies).toEqual([body, body])
  })

  it('nothing, and rejects as fetch does, for invalid headers', async () => {
    const set = setUp([200])
    await expect(set.send(URL_, { headers: { 'no space': 'x' } })).rejects.toThrow(TypeError)
    expect(set.sent).toEqual([])
  })

  it('nothing if fetch rejects, and rejects with its error', async () => {
    const timers = fakeTimers()
    const send = polite(async () => Promise.reject(new TypeError('no network')), { timers })
    await expect(send(URL_)).rejects.toThrow('no network')
  })
})

describe('polite shares hints between requests', () => {
  it('and holds them back while a quota of their host and credential is spent', async () => {
    const waits: number[] = []
    const spent: Reply = [200, { ratelimit: '"a";r=0;t=10' }]
    const set = setUp([spent, 200], { onWait: ({ wait }) => waits.push(wait) })
    const alice = { headers: { authorization: 'alice' } }
    await set.send(URL_, alice)
    const later = [set.send(URL_, alice), set.send('https://api.test/other', alice)]
    await set.send(URL_, { headers: { authorization: 'bob' } })
    await set.send('https://else.test/', alice)
    expect(set.sent).toEqual([0, 0, 0])
    await set.timers.advance(9999)
    expect(set.sent).toHaveLength(3)
    await set.timers.advance(1)
    await Promise.all(later)
    expect(set.sent).toEqual([0, 0, 0, 10_000, 10_000])
    expect(waits).toEqual([10_000, 10_000])
  })

  it('but holds nothing back for a hint beyond its total time', async () => {
    const set = setUp([[429, { 'retry-after': '3600' }], 200])
    expect(await set.status()).toBe(429)
    expect((await set.send(URL_)).status).toBe(200)
  })

  it('by host, by a function, or not at all', async () => {
    const spent: Reply = [200, { ratelimit: '"a";r=0;t=10' }]
    for (const [key, expected] of [
      ['host', 1],
      [() => 'all', 1],
      [() => '', 2],
    ] as const) {
      const set = setUp([spent, 200], { key })
      await set.send(URL_, { headers: { authorization: 'alice' } })
      const second = set.send(URL_, { headers: { authorization: 'bob' } })
      await set.timers.advance(0)
      expect(set.sent).toHaveLength(expected)
      await set.timers.advance(10_000)
      await second
    }
  })

  it('of the 1,000 most recently used keys', async () => {
    const spent: Reply = [200, { ratelimit: '"a";r=0;t=60' }]
    const patient = setUp([spent, spent, 200])
    await patient.send('https://first.test/')
    await patient.send('https://second.test/')
    for (let i = 0; i < 998; i++) await patient.send(`https://host-${i}.test/`)
    const first = patient.send('https://first.test/')
    await patient.timers.advance(0)
    expect(patient.sent).toHaveLength(1000)
    await patient.send('https://one-more.test/')
    await patient.send('https://second.test/')
    expect(patient.sent).toHaveLength(1002)
    await patient.timers.advance(60_000)
    await first
  })
})

describe('the retry budget of polite', () => {
  it('bounds the retries of an outage to a tenth of the requests plus its burst', async () => {
    const set = setUp([503], { retryBudget: { perSecond: 0 } })
    for (let i = 0; i < 1000; i++) {
      const answer = set.send(URL_)
      await set.timers.advance(0)
      expect((await answer).status).toBe(503)
    }
    console.log(`1,000 requests to a server that is down: ${set.sent.length} attempts`)
    expect(set.sent.length).toBeLessThanOrEqual(1000 + 10 + 100)
    expect(set.sent.length).toBeGreaterThan(1090)
  })

  it('is not used by retries at the instant that the server named', async () => {
    const timers = fakeTimers(START)
    const limiter = createLimiter({ limit: '20/s', store: memoryStore({ clock: timers.clock }) })
    const server: Fetch = async () => {
      const { allowed, retryAfter } = limiter.check('client')
      const seconds = String(Math.ceil((retryAfter ?? 0) / 1000))
      const headers = allowed ? {} : { 'retry-after': seconds }
      return new Response(null, { status: allowed ? 200 : 429, headers })
    }
    const send = polite(server, { timers, random: seeded(7) })
    const answers = Array.from({ length: 60 }, () => send(URL_))
    await timers.advance(120_000)
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses).toEqual(Array.from({ length: 60 }, () => 200))
  })

  it('is used by retries that a server schedules at once', async () => {
    const options = { retryBudget: { burst: 2, perSecond: 0, share: 0 } }
    const set = setUp([[503, { 'retry-after': '0' }]], options)
    expect(await set.status()).toBe(503)
    expect(set.sent).toHaveLength(3)
  })

  it('can be switched off', async () => {
    const set = setUp([503], { retryBudget: false })
    for (let i = 0; i < 100; i++) {
      const answer = set.send(URL_)
      for (let n = 0; n < 5; n++) await set.timers.advance(0)
      await answer
    }
    expect(set.sent).toHaveLength(500)
  })

  it('is separate for each host', async () => {
    const set = setUp([503], { retryBudget: { perSecond: 0, share: 0, burst: 2 }, attempts: 2 })
    for (let i = 0; i < 5; i++) await set.status('https://down.test/')
    const before = set.sent.length
    await set.status('https://well.test/')
    expect(set.sent.length - before).toBe(2)
  })
})

describe('an abort of polite', () => {
  it.each(['init', 'request'])(
    'by the signal of the %s ends a wait at once with its reason',
    async (where) => {
      const set = setUp([[429, { 'retry-after': '60' }]])
      const control = new AbortController()
      const { signal } = control
      const answer =
        where === 'init' ? set.send(URL_, { signal }) : set.send(new Request(URL_, { signal }))
      await set.timers.advance(1000)
      expect(set.timers.pending).toBe(1)
      control.abort(new Error('changed my mind'))
      await expect(answer).rejects.toThrow('changed my mind')
      expect(set.timers.pending).toBe(0)
      await set.timers.advance(100_000)
      expect(set.sent).toEqual([0])
    },
  )

  it('ends the wait before the first attempt', async () => {
    const set = setUp([[200, { ratelimit: '"a";r=0;t=60' }]])
    await set.send(URL_)
    const control = new AbortController()
    const answer = set.send(URL_, { signal: control.signal })
    await set.timers.advance(10)
    control.abort()
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' })
    expect([set.sent.length, set.timers.pending]).toEqual([1, 0])
  })

  it('before the call prevents it', async () => {
    const set = setUp([200])
    await expect(set.send(URL_, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    })
    expect(set.sent).toEqual([])
  })

  it('before the call prevents it even if fetch ignores its signal', async () => {
    let sent = 0
    const careless: Fetch = async () => {
      sent += 1
      return new Response()
    }
    const signal = AbortSignal.abort(new Error('early'))
    for (const input of [URL_, new Request(URL_, { signal })])
      await expect(polite(careless)(input, input === URL_ ? { signal } : {})).rejects.toThrow(
        'early',
      )
    expect(sent).toBe(0)
  })

  it('at any await rejects with its reason and leaves no timer', async () => {
    for (let turns = 0; turns < 40; turns++) {
      const set = setUp([429, [503, { 'retry-after': '1' }], 429, 200], { random: () => 0.001 })
      const control = new AbortController()
      const answer = set.send(URL_, { signal: control.signal }).then(
        () => 'done',
        (error: Error) => error.message,
      )
      for (let i = 0; i < turns; i++)
        await (i % 4 === 3 ? set.timers.advance(300) : Promise.resolve())
      control.abort(new Error('stop'))
      await set.timers.advance(1_000_000)
      expect(['stop', 'done']).toContain(await answer)
      expect(set.timers.pending).toBe(0)
    }
  })
})

describe('the events of polite', () => {
  it('report each retry; errors of listeners are ignored', async () => {
    const events: object[] = []
    const set = setUp([[429, { 'retry-after': '2' }], 200], {
      onRetry: (event) => {
        events.push(event)
        throw new Error('listener')
      },
    })
    expect(await set.status()).toBe(200)
    expect(events).toMatchObject([
      { method: 'GET', url: URL_, status: 429, attempt: 1, wait: 2000, hint: { retryAfter: 2000 } },
    ])
  })

  it('ignore rejections of their listeners', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    let calls = 0
    const fail = (): unknown => {
      calls += 1
      return Promise.reject(new Error('listener'))
    }
    const spent = { ratelimit: '"a";r=0;t=2' }
    const set = setUp([[200, spent], [429, spent], 200], { onRetry: fail, onWait: fail })
    await set.send(URL_)
    expect(await set.status()).toBe(200)
    // Node reports unhandled rejections before the next turn.
    await new Promise((resolve) => void setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect([calls, unhandled]).toEqual([2, []])
  })

  it.each<[GiveUpReason, Reply, PoliteOptions, RequestInit]>([
    ['attempts', 429, { attempts: 1 }, {}],
    ['total-time', [429, { 'retry-after': '3600' }], {}, {}],
    ['retry-budget', 503, { retryBudget: { burst: 0, perSecond: 0 } }, {}],
    ['not-idempotent', 429, {}, { method: 'POST' }],
    ['not-idempotent', 429, { retry: () => false }, {}],
    ['body', 429, {}, { method: 'PUT', body: new Blob(['a']).stream(), duplex: 'half' } as never],
    ['server', [429, { 'x-should-retry': 'false' }], {}, {}],
  ])(
    'report a refusal that is not retried, with the reason %s',
    async (reason, reply, options, init) => {
      const events: GiveUpEvent[] = []
      const set = setUp([reply], { ...options, onGiveUp: (event) => events.push(event) })
      const status = await set.status(URL_, init)
      expect(events).toMatchObject([{ reason, url: URL_, status, attempt: 1 }])
      expect(set.sent).toEqual([0])
    },
  )

  it('do not report a response that is no refusal', async () => {
    const events: GiveUpEvent[] = []
    const set = setUp([500], { onGiveUp: (event) => events.push(event) })
    expect(await set.status()).toBe(500)
    expect(events).toEqual([])
  })
})

describe('the options of polite', () => {
  it.each([
    [{ attempts: 0 }, 'attempts is 0; accepted: a whole number, 1 or more'],
    [{ totalTime: 'soon' }, 'totalTime is "soon"'],
    [{ statuses: 429 }, 'statuses is 429'],
    [{ key: 'user' }, 'key is "user"'],
    [{ retryBudget: { share: 2 } }, 'share is 2'],
    [{ retryBudget: null }, 'retryBudget is null; accepted: options, a budget, or false'],
    [{ onRetry: 1 }, 'onRetry is 1; accepted: a function'],
    [{ timers: {} }, 'timers is {}'],
    [{ retries: 3 }, 'polite: unknown option "retries"'],
  ])('%j are rejected', (options, message) => {
    expect(() => polite(fetch, options as PoliteOptions)).toThrow(message)
  })
})

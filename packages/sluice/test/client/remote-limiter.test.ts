// The remote limiter, against a scripted server and against the decision service itself. No deadline runs in real time.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { running, sample } from '../../../server/test/running.ts'
import {
  remoteLimiter,
  type RemoteLimiter,
  type RemoteLimiterOptions,
} from '../../src/client/remote-limiter.ts'
import type { SluiceError } from '../../src/errors.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { fakeTimers, type FakeTimers } from '../../src/testing/fake-timers.ts'
import { serve, type LimitedServer } from './limited-servers.ts'

const started: LimitedServer[] = []
afterEach(async () => {
  for (const server of started.splice(0)) await server.stop()
})

interface Received {
  readonly path: string
  readonly body: Record<string, unknown> & { readonly checks?: readonly Record<string, unknown>[] }
  readonly headers: Record<string, unknown>
}

/** A server that records its requests and answers what a function returns. */
async function scripted(
  answer: (request: Received) => { status?: number; body: unknown } | undefined,
) {
  const received: Received[] = []
  const timers = fakeTimers()
  const server = await serve((request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += String(chunk)))
    request.on('end', () => {
      const one: Received = {
        path: request.url ?? '',
        body: JSON.parse(text) as Received['body'],
        headers: request.headers,
      }
      received.push(one)
      const reply = answer(one)
      if (reply === undefined) return
      const { status = 200, body } = reply
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  })
  started.push(server)
  const limiter = (options: RemoteLimiterOptions = {}): RemoteLimiter =>
    remoteLimiter(server.url, { timers, ...options })
  return { received, limiter, timers, url: server.url }
}

const decision = {
  allowed: true,
  reason: 'no-rule',
  rule: null,
  limit: null,
  remaining: null,
  retryAfter: 0,
  resetAfter: 0,
  delay: 0,
  at: 0,
  degraded: false,
  outcomes: [],
  skipped: [],
}
const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'answered',
    ({ code, transient }: SluiceError) => [code, transient],
  )

describe('remoteLimiter', () => {
  it('sends a single check with policy, key or attributes, cost and headers', async () => {
    const { received, limiter } = await scripted(() => ({ body: decision }))
    const remote = limiter({ policy: 'api', headers: { authorization: 'Bearer t' } })
    expect(await remote.check('user:42')).toMatchObject({ allowed: true, remaining: Infinity })
    await remote.peek({ user: 'ann' }, 3)
    await remote.refund('user:42', 2, 1_700_000_000_000)
    await remote.reset({ user: 'ann' })
    expect(received.map(({ path, body }) => [path, body])).toEqual([
      ['/v1/check', { policy: 'api', key: 'user:42' }],
      ['/v1/peek', { policy: 'api', attributes: { user: 'ann' }, cost: 3 }],
      ['/v1/refund', { policy: 'api', key: 'user:42', cost: 2, takenAt: 1_700_000_000_000 }],
      ['/v1/reset', { policy: 'api', attributes: { user: 'ann' } }],
    ])
    expect(received[0]!.headers).toMatchObject({
      authorization: 'Bearer t',
      'content-type': 'application/json',
    })
  })

  it('sends all checks of one turn together, in order, and settles each with its own answer', async () => {
    const problem = { status: 400, code: 'invalid-cost', detail: 'cost is -1' }
    const { received, limiter } = await scripted(({ body }) => ({
      body: {
        decisions: body.checks!.map(({ key }) =>
          key === '7' ? { error: problem } : { ...decision, rule: key },
        ),
      },
    }))
    const remote = limiter()
    const answers = Array.from({ length: 100 }, (_, i) => remote.check(String(i)))
    const settled = await Promise.allSettled(answers)
    expect(received).toHaveLength(1)
    const found = settled.map((one) =>
      one.status === 'fulfilled' ? one.value.rule : (one.reason as object),
    )
    expect(found[7]).toMatchObject({ code: 'invalid-cost', transient: false })
    expect(found.toSpliced(7, 1)).toEqual(
      Array.from({ length: 100 }, (_, i) => String(i)).toSpliced(7, 1),
    )
  })

  it('splits a large turn into requests of at most 1,000 checks and small bodies', async () => {
    const { received, limiter } = await scripted(({ body }) => ({
      body: { decisions: body.checks!.map(() => decision) },
    }))
    const remote = limiter()
    await Promise.all(Array.from({ length: 2500 }, (_, i) => remote.check(`k${i}`)))
    await Promise.all(Array.from({ length: 40 }, (_, i) => remote.check(`${i}`.padEnd(4000, 'x'))))
    expect(Math.max(...received.map(({ body }) => body.checks!.length))).toBeLessThanOrEqual(1000)
    expect(Math.max(...received.map(({ body }) => JSON.stringify(body).length))).toBeLessThan(
      32_768,
    )
  })

  it('does not send a check that is aborted in the same turn', async () => {
    const { received, limiter } = await scripted(() => ({ body: decision }))
    const remote = limiter()
    const control = new AbortController()
    const aborted = remote
      .check('aborted', 1, control.signal)
      .catch((error: Error) => error.message)
    const kept = remote.check('kept')
    control.abort(new Error('changed my mind'))
    expect(await aborted).toBe('changed my mind')
    await kept
    expect(received.map(({ body }) => body)).toEqual([{ key: 'kept' }])
  })

  it.each<[string, { status?: number; body: unknown }, unknown]>([
    [
      'an invalid request',
      { status: 400, body: { code: 'invalid-cost' } },
      ['invalid-cost', false],
    ],
    [
      'an invalid request with another code',
      { status: 400, body: { code: 'invalid-body' } },
      ['invalid-attributes', false],
    ],
    [
      'an unknown policy',
      { status: 404, body: { code: 'unknown-policy' } },
      ['invalid-policy', false],
    ],
    ['a large body', { status: 413, body: {} }, ['invalid-attributes', false]],
    ['a missing token', { status: 401, body: '' }, ['store-forbidden', false]],
    [
      'an unreachable store',
      { status: 503, body: { code: 'store-unreachable' } },
      ['store-unreachable', true],
    ],
    ['an overloaded service', { status: 503, body: '<html>' }, ['store-busy', true]],
    ['a limited client', { status: 429, body: '' }, ['store-busy', true]],
    ['an internal error', { status: 500, body: { code: 'internal' } }, ['store-failed', true]],
    [
      'a failed gateway with an invalid-… code',
      { status: 502, body: { code: 'invalid-cost' } },
      ['store-failed', true],
    ],
    ['text that is not JSON', { body: 'ok' }, ['store-failed', false]],
    ['an object that is no decision', { body: { fine: true } }, ['store-failed', false]],
    ['null instead of a decision', { body: 'null' }, ['store-failed', false]],
    ['half a decision', { body: { allowed: false } }, ['store-failed', false]],
    [
      'a refusal without a wait',
      { body: { ...decision, allowed: false, retryAfter: undefined } },
      ['store-failed', false],
    ],
    ['a wait as a string', { body: { ...decision, retryAfter: '7' } }, ['store-failed', false]],
    ['half a limit', { body: { ...decision, limit: { quota: 1 } } }, ['store-failed', false]],
    [
      'half an outcome',
      { body: { ...decision, outcomes: [{ rule: 'a' }] } },
      ['store-failed', false],
    ],
    ['outcomes of null', { body: { ...decision, outcomes: [null] } }, ['store-failed', false]],
    [
      'a skipped rule without a name',
      { body: { ...decision, skipped: [{}] } },
      ['store-failed', false],
    ],
  ])('rejects %s', async (_, reply, expected) => {
    const { limiter } = await scripted(() => reply)
    expect(await codeOf(limiter().check('a'))).toEqual(expected)
  })

  it.each([{}, { decisions: [decision] }, { decisions: 'all' }, 'null', '7', '[]'])(
    'rejects a whole batch answered with %j',
    async (body) => {
      const { limiter } = await scripted(() => ({ body }))
      const remote = limiter()
      expect(await Promise.all([codeOf(remote.check('a')), codeOf(remote.check('b'))])).toEqual([
        ['store-failed', false],
        ['store-failed', false],
      ])
    },
  )

  it('rejects only the half decision of a batch', async () => {
    const { limiter } = await scripted(() => ({
      body: { decisions: [decision, { allowed: false }] },
    }))
    const remote = limiter()
    expect(await Promise.all([codeOf(remote.check('a')), codeOf(remote.check('b'))])).toEqual([
      'answered',
      ['store-failed', false],
    ])
  })

  it('names the field of a half decision', async () => {
    const { limiter } = await scripted(() => ({ body: { allowed: false } }))
    await expect(limiter().check('a')).rejects.toThrow(
      'the decision service answered a decision whose reason is missing',
    )
  })

  it.each([
    ['null', () => null],
    // A timer that stays would keep the async context of the request that started it.
    ['a timer of Node', () => ({ ref: () => {}, unref: () => {} })],
  ])('stops its deadline after each last answer, which timers know by %s', async (_, set) => {
    const { limiter } = await scripted(() => ({ body: decision }))
    const stopped: unknown[] = []
    const clear = (timer: unknown) => void stopped.push(timer)
    const made: unknown[] = []
    const timers = {
      ...fakeTimers(),
      clear,
      set: () => {
        made.push(set())
        return made.at(-1)
      },
    }
    const remote = limiter({ timers })
    for (let i = 0; i < 2; i++) expect((await remote.check('a')).allowed).toBe(true)
    expect(made.length).toBeGreaterThan(1)
    expect(stopped).toEqual(made)
  })

  it('rejects with store-timeout at its deadline', async () => {
    const { limiter, received, timers } = await scripted(() => undefined)
    const answer = codeOf(limiter({ timeout: 50 }).check('a'))
    await expect.poll(() => received.length).toBe(1)
    await timers.advance(49)
    expect(timers.pending).toBe(1)
    await timers.advance(1)
    expect(await answer).toEqual(['store-timeout', true])
    expect(timers.pending).toBe(0)
  })

  it('rejects with store-unreachable if nothing listens', async () => {
    const { limiter } = await scripted(() => undefined)
    await started.pop()!.stop()
    expect(await codeOf(limiter().check('a'))).toEqual(['store-unreachable', true])
  })

  it.each<[string, (timers: FakeTimers) => RemoteLimiterOptions['fetch']]>([
    ['never answers', () => () => new Promise<never>(() => {})],
    ['never ends its body', () => async () => new Response(new ReadableStream())],
    [
      'fails after the deadline',
      (timers) => () => new Promise((_, reject) => void timers.set(() => reject(new Error()), 80)),
    ],
  ])('rejects at its deadline if fetch %s and ignores its signal', async (_, make) => {
    const timers = fakeTimers()
    const fetch = make(timers)!
    const remote = remoteLimiter('http://127.0.0.1:1', { timeout: 30, fetch, timers })
    const answers = [remote.check('a'), remote.check('b'), remote.refund('a')].map(codeOf)
    await timers.advance(30)
    expect(new Set((await Promise.all(answers)).map(String))).toEqual(
      new Set(['store-timeout,true']),
    )
    await timers.advance(100)
    expect(timers.pending).toBe(0)
  })

  it('rejects invalid arguments before anything is sent', async () => {
    const { received, limiter } = await scripted(() => ({ body: decision }))
    const remote = limiter()
    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = cyclic
    expect(await codeOf(remote.check('a', -1))).toEqual(['invalid-cost', false])
    expect(await codeOf(remote.check('a', Number.NaN))).toEqual(['invalid-cost', false])
    expect(await codeOf(remote.check(cyclic as never))).toEqual(['invalid-attributes', false])
    await remote.close()
    expect(await codeOf(remote.check('a'))).toEqual(['limiter-closed', false])
    expect(received).toEqual([])
    expect(() => remoteLimiter('localhost:8080')).toThrow('remoteLimiter: url is "localhost:8080"')
    expect(() => remoteLimiter('http://x', { timeout: -1 })).toThrow('timeout is -1')
  })

  it.each([
    ['http://user:secret@127.0.0.1:8080', {}, 'url is "http://127.0.0.1:8080/"'],
    ['http://127.0.0.1:8080/?tenant=a', {}, 'url is "http://127.0.0.1:8080/?tenant=a"'],
    ['http://127.0.0.1:8080/#a', {}, 'url is "http://127.0.0.1:8080/#a"'],
    ['http://127.0.0.1:8080', { 'no space': 'secret' }, 'headers is ["no space"]'],
    ['http://127.0.0.1:8080', { a: 'secret\n' + 'b: c' }, 'headers is ["a"]'],
    ['http://127.0.0.1:8080', 'secret', 'headers is "…"'],
  ])('throws for %s with %j and shows no secret', (url, headers, message) => {
    let error: unknown
    try {
      remoteLimiter(url, { headers: headers as never })
    } catch (caught) {
      error = caught
    }
    expect(error).toMatchObject({
      code: 'invalid-option',
      message: expect.stringContaining(message) as string,
    })
    expect(String(error)).not.toContain('secret')
  })
})

describe('the fallback of a remote limiter', () => {
  const local = () =>
    createLimiter({ limit: '1/min', store: memoryStore({ clock: fakeClock(1000) }) })

  it.each<[string, { status?: number; body: unknown }]>([
    ['store-busy', { status: 503, body: {} }],
    ['store-failed', { body: { allowed: false } }],
    ['store-forbidden', { status: 401, body: {} }],
  ])('answers after %s with a degraded decision', async (cause, reply) => {
    const { limiter } = await scripted(() => reply)
    const remote = limiter({ fallback: local() })
    const expected = { rule: 'default', degraded: true, cause }
    expect(await remote.check('a')).toMatchObject({ allowed: true, ...expected })
    expect(await remote.peek('a')).toMatchObject({ allowed: false, ...expected })
    expect(await remote.check('a')).toMatchObject({ allowed: false, ...expected })
  })

  it('does not answer for an invalid request, an abort or a closed limiter', async () => {
    const { limiter } = await scripted(() => ({ status: 400, body: { code: 'invalid-cost' } }))
    const remote = limiter({ fallback: local() })
    expect(await codeOf(remote.check('a'))).toEqual(['invalid-cost', false])
    expect(await codeOf(remote.check('a', -1))).toEqual(['invalid-cost', false])
    const signal = AbortSignal.abort(new Error('changed my mind'))
    await expect(remote.check('a', 1, signal)).rejects.toThrow('changed my mind')
    await remote.close()
    expect(await codeOf(remote.check('a'))).toEqual(['limiter-closed', false])
  })

  it('gets the refund of the units that it gave, and the service gets the others', async () => {
    let isWell = false
    const { received, limiter } = await scripted(() =>
      isWell ? { body: { ...decision, at: 5000 } } : { status: 503, body: {} },
    )
    const remote = limiter({ fallback: local() })
    const { at } = await remote.check('a')
    expect((await remote.check('a')).allowed).toBe(false)
    await remote.refund('a', 1, at)
    expect((await remote.check('a')).allowed).toBe(true)
    isWell = true
    const later = await remote.check('a')
    await remote.refund('a', 1, later.at)
    await remote.refund('a')
    const refunds = received.filter(({ path }) => path === '/v1/refund')
    expect(refunds.map(({ body }) => body)).toEqual([
      { key: 'a', cost: 1, takenAt: 5000 },
      { key: 'a' },
    ])
  })

  it('is reset together with the service', async () => {
    const { limiter } = await scripted(({ path }) =>
      path === '/v1/reset' ? { body: {} } : { status: 503, body: {} },
    )
    const remote = limiter({ fallback: local() })
    await remote.check('a')
    await remote.reset('a')
    expect((await remote.check('a')).allowed).toBe(true)
  })
})

describe('the breaker of a remote limiter', () => {
  it('opens after failures, sends nothing while open, and closes after two good probes', async () => {
    let isWell = false
    const { received, limiter, timers } = await scripted(() =>
      isWell ? { body: decision } : { status: 503, body: {} },
    )
    const events: string[] = []
    const breaker = { failures: 3, firstProbe: 50, lastProbe: 50 }
    const remote = limiter({ breaker, onEvent: ({ type }) => events.push(type) })
    const check = () => codeOf(remote.check('a'))
    for (let i = 0; i < 3; i++) {
      // Failures of one millisecond count as one.
      timers.clock.advance(1)
      expect(await check()).toEqual(['store-busy', true])
    }
    isWell = true
    // The first probe is due between half of firstProbe and all of it.
    timers.clock.advance(24)
    expect(await check()).toEqual(['breaker-open', true])
    expect(received).toHaveLength(3)
    timers.clock.advance(26)
    for (let i = 0; i < 2; i++) expect(await check()).toBe('answered')
    expect(events).toEqual(['opened', 'half-open', 'closed'])
  })

  it('stays closed after invalid requests', async () => {
    const { limiter, timers } = await scripted(() => ({
      status: 400,
      body: { code: 'invalid-cost' },
    }))
    const remote = limiter({ breaker: { failures: 2 } })
    for (let i = 0; i < 5; i++) {
      timers.clock.advance(1)
      expect(await codeOf(remote.check('a'))).toEqual(['invalid-cost', false])
    }
  })

  it('warns once when it opens and once when it closes', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    let isWell = false
    const { limiter, timers } = await scripted(() =>
      isWell ? { body: decision } : { status: 503, body: {} },
    )
    const remote = limiter({ breaker: { failures: 1, firstProbe: 100 } })
    await codeOf(remote.check('a'))
    isWell = true
    timers.clock.advance(2000)
    for (let i = 0; i < 3; i++) await remote.check('a')
    const warnings = warn.mock.calls.flat()
    warn.mockRestore()
    expect(warnings).toEqual([
      'sluice: the decision service does not answer (store-busy)',
      'sluice: the decision service answers again after 2 s',
    ])
  })
})

describe('the decision service', () => {
  // Real servers on a busy machine: the deadline must not matter.
  const timers = fakeTimers()

  it('decides as the library does', async () => {
    const { url } = await running(sample)
    const local = createLimiter({ policy: sample.policies[0] as never })
    const remote = remoteLimiter(url, { timers })
    for (let i = 0; i < 4; i++) {
      const [here, there] = [
        local.check({ user: 'ann' }, 2),
        await remote.check({ user: 'ann' }, 2),
      ]
      expect([there.allowed, there.rule, there.remaining]).toEqual([
        here.allowed,
        here.rule,
        here.remaining,
      ])
    }
    const { at } = await remote.check({ user: 'bob' }, 5)
    await remote.refund({ user: 'bob' }, 5, at)
    expect((await remote.peek({ user: 'bob' }, 5)).allowed).toBe(true)
    await remote.check('k', 3)
    expect((await remote.check('k')).allowed).toBe(false)
    await remote.reset('k')
    expect((await remote.check('k', 3)).allowed).toBe(true)
    expect(await remote.check({ ip: '192.0.2.1' })).toMatchObject({
      reason: 'no-rule',
      remaining: Infinity,
    })
    local.close()
  })

  it('allows exactly the quota of a thousand checks in one turn', async () => {
    const { url } = await running({
      policies: [{ name: 'api', rules: [{ name: 'all', by: [], limit: '300/400d' }] }],
    })
    const remote = remoteLimiter(url, { timers })
    const answers = await Promise.all(
      Array.from({ length: 1000 }, () => remote.check({ user: 'x' })),
    )
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(300)
  })

  it('reports problems that become errors of the library', async () => {
    const { url } = await running(sample)
    const remote = remoteLimiter(url, { timers })
    expect(await codeOf(remoteLimiter(url, { policy: 'none', timers }).check('a'))).toEqual([
      'invalid-policy',
      false,
    ])
    expect(await codeOf(remote.check({ user: ['a'] } as never))).toEqual([
      'invalid-attributes',
      false,
    ])
    const both = await Promise.all([
      codeOf(remote.check({ user: ['a'] } as never)),
      codeOf(remote.check('fine')),
    ])
    expect(both).toEqual([['invalid-attributes', false], 'answered'])
  })
})

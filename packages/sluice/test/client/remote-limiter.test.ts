// The remote limiter: against a small server that follows the wire, and against the decision service itself.
import { afterEach, describe, expect, it } from 'vitest'
import { running, sample } from '../../../server/test/running.ts'
import { remoteLimiter, type RemoteLimiterOptions } from '../../src/client/remote-limiter.ts'
import type { SluiceError } from '../../src/errors.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import type { Limiter } from '../../src/limiter/limiter.ts'
import { createCallGuard } from '../../src/resilience/guarded-calls.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { serve, type LimitedServer } from './limited-servers.ts'

const started: LimitedServer[] = []
afterEach(async () => {
  for (const server of started.splice(0)) await server.stop()
})

interface Asked {
  readonly path: string
  readonly body: Record<string, unknown> & { readonly checks?: readonly Record<string, unknown>[] }
  readonly headers: Record<string, unknown>
}

/** A server that notes what it is asked, and answers what a function says. */
async function wire(answer: (asked: Asked) => { status?: number; body: unknown } | undefined) {
  const asked: Asked[] = []
  const server = await serve((request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += String(chunk)))
    request.on('end', () => {
      const one: Asked = {
        path: request.url ?? '',
        body: JSON.parse(text) as Asked['body'],
        headers: request.headers,
      }
      asked.push(one)
      const reply = answer(one)
      if (reply === undefined) return
      const { status = 200, body } = reply
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  })
  started.push(server)
  const limiter = (options: RemoteLimiterOptions = {}): Limiter =>
    remoteLimiter(server.url, { timeout: 5000, ...options })
  return { asked, limiter, url: server.url }
}

const yes = {
  allowed: true,
  reason: 'no-rule',
  rule: null,
  limit: null,
  remaining: null,
  retryAfter: 0,
}
const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'answered',
    ({ code, transient }: SluiceError) => [code, transient],
  )

describe('on the wire', () => {
  it('asks for one as one, with policy, key or attributes, cost and headers', async () => {
    const { asked, limiter } = await wire(() => ({ body: yes }))
    const remote = limiter({ policy: 'api', headers: { authorization: 'Bearer t' } })
    expect(await remote.check('user:42')).toMatchObject({ allowed: true, remaining: Infinity })
    await remote.peek({ user: 'ann' }, 3)
    await remote.refund('user:42', 2, 1_700_000_000_000)
    await remote.reset({ user: 'ann' })
    expect(asked.map(({ path, body }) => [path, body])).toEqual([
      ['/v1/check', { policy: 'api', key: 'user:42' }],
      ['/v1/peek', { policy: 'api', attributes: { user: 'ann' }, cost: 3 }],
      ['/v1/refund', { policy: 'api', key: 'user:42', cost: 2, takenAt: 1_700_000_000_000 }],
      ['/v1/reset', { policy: 'api', attributes: { user: 'ann' } }],
    ])
    expect(asked[0]!.headers).toMatchObject({
      authorization: 'Bearer t',
      'content-type': 'application/json',
    })
  })

  it('sends all of one turn together, in order, and hands each its own answer', async () => {
    const problem = { status: 400, code: 'invalid-cost', detail: 'cost is odd' }
    const { asked, limiter } = await wire(({ body }) => ({
      body: {
        decisions: body.checks!.map(({ key }) =>
          key === '7' ? { error: problem } : { ...yes, rule: key },
        ),
      },
    }))
    const remote = limiter()
    const answers = Array.from({ length: 100 }, (_, i) => remote.check(String(i)))
    const settled = await Promise.allSettled(answers)
    expect(asked).toHaveLength(1)
    const found = settled.map((one) =>
      one.status === 'fulfilled' ? one.value.rule : (one.reason as object),
    )
    expect(found[7]).toMatchObject({ code: 'invalid-cost', transient: false })
    expect(found.toSpliced(7, 1)).toEqual(
      Array.from({ length: 100 }, (_, i) => String(i)).toSpliced(7, 1),
    )
  })

  it('splits what is too much for one request: at most 1,000 questions, and small bodies', async () => {
    const { asked, limiter } = await wire(({ body }) => ({
      body: { decisions: body.checks!.map(() => yes) },
    }))
    const remote = limiter()
    await Promise.all(Array.from({ length: 2500 }, (_, i) => remote.check(`k${i}`)))
    await Promise.all(Array.from({ length: 40 }, (_, i) => remote.check(`${i}`.padEnd(4000, 'x'))))
    expect(Math.max(...asked.map(({ body }) => body.checks!.length))).toBeLessThanOrEqual(1000)
    expect(Math.max(...asked.map(({ body }) => JSON.stringify(body).length))).toBeLessThan(32_768)
  })

  it('whoever has left before the turn is over is not asked for', async () => {
    const { asked, limiter } = await wire(() => ({ body: yes }))
    const remote = limiter()
    const control = new AbortController()
    const gone = remote.check('gone', 1, control.signal).catch((error: Error) => error.message)
    const stays = remote.check('stays')
    control.abort(new Error('left'))
    expect(await gone).toBe('left')
    await stays
    expect(asked.map(({ body }) => body)).toEqual([{ key: 'stays' }])
  })

  it.each<[string, { status?: number; body: unknown }, unknown]>([
    ['misuse', { status: 400, body: { code: 'invalid-cost' } }, ['invalid-cost', false]],
    [
      'misuse in other words',
      { status: 400, body: { code: 'invalid-body' } },
      ['invalid-attributes', false],
    ],
    [
      'no such policy',
      { status: 404, body: { code: 'unknown-policy' } },
      ['invalid-policy', false],
    ],
    ['too large', { status: 413, body: {} }, ['invalid-attributes', false]],
    ['not let in', { status: 401, body: '' }, ['store-forbidden', false]],
    [
      'store gone',
      { status: 503, body: { code: 'store-unreachable' } },
      ['store-unreachable', true],
    ],
    ['overloaded', { status: 503, body: '<html>' }, ['store-busy', true]],
    ['limited itself', { status: 429, body: '' }, ['store-busy', true]],
    ['broken', { status: 500, body: { code: 'internal' } }, ['store-failed', true]],
    [
      'a gateway that calls its failure misuse',
      { status: 502, body: { code: 'invalid-cost' } },
      ['store-failed', true],
    ],
    ['not JSON', { body: 'ok' }, ['store-failed', false]],
    ['not a decision', { body: { fine: true } }, ['store-failed', false]],
    ['null', { body: 'null' }, ['store-failed', false]],
  ])('%s', async (_, reply, expected) => {
    const { limiter } = await wire(() => reply)
    expect(await codeOf(limiter().check('a'))).toEqual(expected)
  })

  it.each([{}, { decisions: [yes] }, { decisions: 'all' }, 'null', '7', '[]'])(
    'a batch answered with %j fails as a whole',
    async (body) => {
      const { limiter } = await wire(() => ({ body }))
      const remote = limiter()
      expect(await Promise.all([codeOf(remote.check('a')), codeOf(remote.check('b'))])).toEqual([
        ['store-failed', false],
        ['store-failed', false],
      ])
    },
  )

  it('gives up at its deadline, and when nobody is there', async () => {
    const { limiter, url } = await wire(() => undefined)
    expect(await codeOf(limiter({ timeout: 50 }).check('a'))).toEqual(['store-timeout', true])
    await started.pop()!.stop()
    expect(await codeOf(remoteLimiter(url, { timeout: 5000 }).check('a'))).toEqual([
      'store-unreachable',
      true,
    ])
  })

  it.each<[string, RemoteLimiterOptions['fetch']]>([
    ['never answers', () => new Promise<never>(() => {})],
    ['never ends its body', async () => new Response(new ReadableStream())],
    ['fails after the deadline', () => new Promise((_, reject) => setTimeout(reject, 80))],
  ])('a fetch that %s, and heeds no signal, is given up at the deadline', async (_, fetch) => {
    const remote = remoteLimiter('http://127.0.0.1:1', { timeout: 30, fetch: fetch! })
    const answers = [remote.check('a'), remote.check('b'), remote.refund('a')].map(codeOf)
    expect(new Set((await Promise.all(answers)).map(String))).toEqual(
      new Set(['store-timeout,true']),
    )
    await new Promise((resolve) => setTimeout(resolve, 100))
  })

  it('refuses misuse before anything is sent', async () => {
    const { asked, limiter } = await wire(() => ({ body: yes }))
    const remote = limiter()
    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = cyclic
    expect(await codeOf(remote.check('a', -1))).toEqual(['invalid-cost', false])
    expect(await codeOf(remote.check('a', Number.NaN))).toEqual(['invalid-cost', false])
    expect(await codeOf(remote.check(cyclic as never))).toEqual(['invalid-attributes', false])
    await remote.close()
    expect(await codeOf(remote.check('a'))).toEqual(['limiter-closed', false])
    expect(asked).toEqual([])
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
  ])('does not take %s with %j, and tells no secret', (url, headers, message) => {
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

  it('a fallback fits around it as around any limiter', async () => {
    const { limiter } = await wire(() => ({ status: 503, body: {} }))
    const local = createLimiter({ limit: '1/min', store: memoryStore({ clock: fakeClock() }) })
    const remote = limiter()
    const guard = createCallGuard({ timeout: 5000 })
    const check = () =>
      guard.execute(
        () => remote.check('a'),
        () => local.check('a'),
      )
    expect((await check()).allowed).toBe(true)
    expect((await check()).allowed).toBe(false)
  })
})

describe('a breaker around it', () => {
  it('opens when the service fails, asks it no more, and closes when it is back', async () => {
    let isWell = false
    const clock = fakeClock()
    const { asked, limiter } = await wire(() =>
      isWell ? { body: yes } : { status: 503, body: {} },
    )
    const events: string[] = []
    const remote = limiter()
    const guard = createCallGuard(
      {
        timeout: 5000,
        breaker: { failures: 3, firstProbe: 50 },
        onEvent: ({ type }) => events.push(type),
      },
      { clock },
    )
    const check = () => {
      clock.advance(1)
      return guard.execute(() => remote.check('a'))
    }
    for (let i = 0; i < 3; i++) expect(await codeOf(check())).toEqual(['store-busy', true])
    const before = asked.length
    expect(await codeOf(check())).toEqual(['breaker-open', true])
    expect(asked).toHaveLength(before)
    isWell = true
    clock.advance(100)
    expect(await codeOf(check())).toBe('answered')
    expect(await check()).toMatchObject({ allowed: true })
    expect(events).toEqual(['opened', 'half-open', 'closed'])
  })

  it('does not open for misuse', async () => {
    const { limiter } = await wire(() => ({ status: 400, body: { code: 'invalid-cost' } }))
    const remote = limiter()
    const guard = createCallGuard({ timeout: 5000, breaker: { failures: 2 } })
    const check = () => guard.execute(() => remote.check('a'))
    for (let i = 0; i < 5; i++) expect(await codeOf(check())).toEqual(['invalid-cost', false])
  })
})

describe('the decision service', () => {
  it('decides as the library does', async () => {
    const { url } = await running(sample)
    const local = createLimiter({ policy: sample.policies[0] as never })
    const remote = remoteLimiter(url, { timeout: 5000 })
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

  it('answers a turn of a thousand, exactly the quota of them allowed', async () => {
    const { url } = await running({
      policies: [{ name: 'api', rules: [{ name: 'all', by: [], limit: '300/400d' }] }],
    })
    const remote = remoteLimiter(url, { timeout: 30_000 })
    const answers = await Promise.all(
      Array.from({ length: 1000 }, () => remote.check({ user: 'x' })),
    )
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(300)
  })

  it('its problems are our errors', async () => {
    const { url } = await running(sample)
    const remote = remoteLimiter(url, { timeout: 5000 })
    expect(await codeOf(remoteLimiter(url, { policy: 'none', timeout: 5000 }).check('a'))).toEqual([
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

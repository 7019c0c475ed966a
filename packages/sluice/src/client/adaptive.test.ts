import { describe, expect, it } from 'vitest'
import { DIALECT_NAMES, headerFields } from '../http/headers/dialects.ts'
import { limit } from '../limit/limit.ts'
import { fakeTimers } from '../testing/fake-timers.ts'
import { adaptive, type AdaptiveOptions } from './adaptive.ts'
import type { Fetch } from './polite.ts'

function setUp(headers: Record<string, string>, options: AdaptiveOptions = {}) {
  const timers = fakeTimers(1_800_000_000_000)
  const began = timers.clock()
  const sent: number[] = []
  const server: Fetch = async (_, init) => {
    init?.signal?.throwIfAborted()
    sent.push(timers.clock() - began)
    return new Response(null, { headers })
  }
  return { timers, sent, send: adaptive(server, { timers, ...options }) }
}

const policy = (quota: number, seconds: number): Record<string, string> => ({
  ratelimit: `"a";r=${quota};t=1`,
  'ratelimit-policy': `"a";q=${quota};w=${seconds}`,
})

describe('adaptive', () => {
  it('spaces requests 3 % below the rate in the headers', async () => {
    const { timers, sent, send } = setUp(policy(10, 1))
    const all = Array.from({ length: 5 }, () => send('http://api.test/'))
    await timers.advance(1000)
    await Promise.all(all)
    const gaps = sent.slice(2).map((at, i) => at - sent[i + 1]!)
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(103)
    expect(send.rates().get('api.test')).toBeCloseTo(9.7)
  })

  it.each([
    [
      'the lowest of several rates',
      { ratelimit: '"a";r=9, "b";r=9', 'ratelimit-policy': '"a";q=100;w=1, "b";q=60;w=60' },
      0.97,
    ],
    [
      'what is left until the reset if no window is named',
      { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '100', 'x-ratelimit-reset': '50' },
      1.94,
    ],
    [
      'no units other than requests',
      { ratelimit: '"b";r=9', 'ratelimit-policy': '"b";q=1;w=60;qu="content-bytes"' },
      10,
    ],
    ['not by what cannot be read', { ratelimit: 'r=, 1' }, 10],
  ])('follows %s', async (_, headers, perSecond) => {
    const { send } = setUp(headers)
    await send('http://api.test/')
    expect(send.rates().get('api.test')).toBeCloseTo(perSecond)
  })

  it('waits for the reset of a spent quota', async () => {
    const { timers, sent, send } = setUp({
      ratelimit: '"a";r=0;t=7',
      'ratelimit-policy': '"a";q=100;w=10',
    })
    await send('http://api.test/')
    const second = send('http://api.test/')
    await timers.advance(6999)
    expect(sent).toEqual([0])
    await timers.advance(1)
    await second
    expect(sent).toEqual([0, 7000])
  })

  it.each(DIALECT_NAMES)('is not slowed by the rest of a lease in %s', async (name) => {
    const rest = { remaining: 0, retryAfter: 0, resetAfter: 21_000, availableAfter: 21_000 }
    const leased = { rule: 'a', limit: limit('1000/s'), allowed: true, ...rest }
    const fields = headerFields([name])([{ ...leased, source: 'lease' }])
    const { timers, sent, send } = setUp(Object.fromEntries(fields))
    const all = Array.from({ length: 500 }, () => send('http://api.test/'))
    await timers.advance(12_000)
    expect(sent).toHaveLength(500)
    await Promise.all(all)
  })

  it('shares a rate by host and credential, by host, or by a function', async () => {
    const names = async (options: AdaptiveOptions): Promise<string[]> => {
      const { timers, send } = setUp({}, options)
      const calls = ['alice', 'bob'].map((authorization) =>
        send('http://api.test/', { headers: { authorization } }),
      )
      await timers.advance(1000)
      await Promise.all(calls)
      return [...send.rates().keys()]
    }
    const byCredential = await names({})
    expect(byCredential).toHaveLength(2)
    expect(byCredential.join(' ')).not.toMatch(/alice|bob/)
    expect(await names({ key: 'host' })).toEqual(['api.test'])
    expect(await names({ key: () => 'all' })).toEqual(['all'])
  })

  it('shares nothing for an empty key or an invalid URL', async () => {
    const { sent, send } = setUp({}, { start: '1/h', key: () => '' })
    await Promise.all([send('http://api.test/'), send('http://api.test/')])
    expect(sent).toEqual([0, 0])
    expect(send.rates().size).toBe(0)
    const other = setUp({}, { start: '1/h' })
    await Promise.all([other.send('/relative'), other.send('/relative'), other.send('http://')])
    expect(other.sent).toEqual([0, 0, 0])
    expect(other.send.rates().size).toBe(0)
  })

  it.each([undefined, null, 7, {}])('rejects a call whose key is %j', async (key) => {
    const { sent, send } = setUp({}, { key: () => key as never })
    await expect(send('http://api.test/')).rejects.toMatchObject({ code: 'invalid-option' })
    expect(sent).toEqual([])
  })

  it('removes an aborted request, and the others continue', async () => {
    const { timers, sent, send } = setUp({}, { start: '1/s' })
    await send('http://api.test/')
    const control = new AbortController()
    const gone = send(new Request('http://api.test/', { signal: control.signal })).catch(
      (error: Error) => error.message,
    )
    const stays = send('http://api.test/')
    control.abort(new Error('gone'))
    expect(await gone).toBe('gone')
    await timers.advance(1000)
    await stays
    expect(sent).toHaveLength(2)
    expect(timers.pending).toBe(0)
  })

  it('rejects with the reason of an abort at any turn, leaves no timer, and the others continue', async () => {
    for (let turns = 0; turns < 8; turns++) {
      const { timers, send } = setUp({}, { start: '1/s' })
      const control = new AbortController()
      const calls = [{}, { signal: control.signal }, {}].map((init) =>
        send('http://api.test/', init).then(
          ({ status }) => status,
          (error: Error) => error.message,
        ),
      )
      for (let i = 0; i < turns; i++) await Promise.resolve()
      control.abort(new Error('stop'))
      await timers.advance(3000)
      expect(await Promise.all(calls)).toEqual([200, 'stop', 200])
      expect(timers.pending).toBe(0)
    }
  })

  it('passes on errors of fetch and continues', async () => {
    const timers = fakeTimers()
    let calls = 0
    const send = adaptive(
      async () => {
        calls += 1
        if (calls === 1) throw new TypeError('no network')
        return new Response()
      },
      { timers },
    )
    await expect(send('http://api.test/')).rejects.toThrow('no network')
    const second = send('http://api.test/')
    await timers.advance(1000)
    expect((await second).status).toBe(200)
  })

  it('rejects a request beyond maxWait or maxQueue', async () => {
    const { timers, send } = setUp({}, { start: '1/min', maxWait: '10s', maxQueue: 1 })
    await send('http://api.test/')
    const codes = [1, 2].map(() =>
      send('http://api.test/').catch((error: { code: string }) => error.code),
    )
    await timers.advance(10_000)
    expect(new Set(await Promise.all(codes))).toEqual(new Set(['wait-too-long']))
  })

  it('remembers at most 1,000 servers', async () => {
    const { send } = setUp({})
    for (let i = 0; i < 1500; i++) await send(`http://host-${i}.test/`)
    expect(send.rates().size).toBe(1000)
    expect(send.rates().has('host-1499.test')).toBe(true)
  })

  it.each([
    [{ start: '0/s' }, 'start is "0/s"'],
    [{ key: 'user' }, 'key is "user"'],
    [{ maxWait: -1 }, 'maxWait is -1'],
    [{ rate: 1 }, 'adaptive: unknown option "rate"'],
  ])('throws for %j', (options, message) => {
    expect(() => adaptive(fetch, options as AdaptiveOptions)).toThrow(message)
  })
})

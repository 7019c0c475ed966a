// The adaptive fetch in simulated time: it settles just below a limit without headers, and follows its changes.
import { describe, expect, it } from 'vitest'
import { adaptive } from '../../src/client/adaptive.ts'
import type { LimitInput } from '../../src/limit/limit.ts'
import { fakeTimers } from '../../src/testing/fake-timers.ts'
import {
  seeded,
  simulatedServer,
  noHeaders,
  retryAfterHeader,
  type HeadersOf,
} from './simulated-server.ts'

const MINUTE = 60_000

/** Twenty clients that send as fast as they may, with results minute by minute. */
function crowd(limit: LimitInput, headersOf: HeadersOf) {
  const timers = fakeTimers(1_800_000_000_000)
  const server = simulatedServer(timers, limit, headersOf, seeded(7))
  const send = adaptive(server.fetch, { timers })
  let isOver = false
  const client = async (): Promise<void> => {
    while (!isOver) await send('http://api.test/')
  }
  const clients = Array.from({ length: 20 }, client)
  return {
    server,
    rate: () => send.rates().get('api.test') ?? 0,
    /** What was admitted per second, and the share that was refused. */
    async run(minutes: number) {
      const [admitted, refused] = [server.admitted.length, server.refused.length]
      await timers.advance(minutes * MINUTE)
      const passed = server.admitted.length - admitted
      const failed = server.refused.length - refused
      return { perSecond: passed / minutes / 60, refused: failed / (passed + failed) }
    },
    async end() {
      isOver = true
      await timers.advance(2 * MINUTE)
      await Promise.all(clients)
    },
  }
}

const percent = (share: number): string => `${(100 * share).toFixed(2)} %`

describe('adaptive at a server without limit headers', () => {
  it.each<[string, LimitInput, HeadersOf, number]>([
    ['token bucket 40/s', '40/s', noHeaders, 40],
    ['token bucket 40/s, burst 10', { quota: 40, window: '1s', burst: 10 }, noHeaders, 40],
    ['token bucket 50/s with Retry-After', '50/s', retryAfterHeader, 50],
    [
      'fixed window 300/10s',
      { quota: 300, window: '10s', algorithm: 'fixed-window' },
      noHeaders,
      30,
    ],
    [
      'sliding window 300/10s',
      { quota: 300, window: '10s', algorithm: 'sliding-window' },
      retryAfterHeader,
      30,
    ],
    ['sliding log 300/10s', { quota: 300, window: '10s', algorithm: 'sliding-log' }, noHeaders, 30],
  ])(
    'settles within 5 %% below %s, with at most one percent refused',
    async (name, limit, headersOf, limitPerSecond) => {
      const one = crowd(limit, headersOf)
      const learning = await one.run(5)
      const settled = await one.run(6)
      await one.end()
      const share = settled.perSecond / limitPerSecond
      console.log(
        `${name}: learning ${percent(learning.refused)} refused; then ${percent(share)} of the limit, ${percent(settled.refused)} refused`,
      )
      expect(share).toBeGreaterThan(0.95)
      expect(share).toBeLessThanOrEqual(1.005)
      expect(settled.refused).toBeLessThan(0.01)
    },
  )
})

describe('adaptive at a limit that changes', () => {
  it('finds twice the limit within five minutes, and half of it within one', async () => {
    const one = crowd('40/s', noHeaders)
    await one.run(4)
    one.server.setLimit('80/s')
    await one.run(5)
    const raised = await one.run(4)
    one.server.setLimit('20/s')
    await one.run(1)
    const lowered = await one.run(4)
    await one.end()
    console.log(
      `raised to 80/s: ${raised.perSecond.toFixed(1)}/s; lowered to 20/s: ${lowered.perSecond.toFixed(1)}/s, ${percent(lowered.refused)} refused`,
    )
    expect(raised.perSecond).toBeGreaterThan(76)
    expect(raised.perSecond).toBeLessThanOrEqual(80.4)
    expect(lowered.perSecond).toBeGreaterThan(19)
    expect(lowered.refused).toBeLessThan(0.02)
  })
})

describe('adaptive at a server with limit headers', () => {
  const policy =
    (quota: number, seconds: number): HeadersOf =>
    (decision) => ({
      ratelimit: `"default";r=${decision.remaining};t=${Math.ceil(decision.resetAfter / 1000)}`,
      'ratelimit-policy': `"default";q=${quota};w=${seconds}`,
      ...retryAfterHeader(decision),
    })
  it.each<[string, LimitInput, HeadersOf, number]>([
    [
      'sliding log 300/10s, draft 8',
      { quota: 300, window: '10s', algorithm: 'sliding-log' },
      policy(300, 10),
      30,
    ],
    [
      'fixed window 600/1min, draft 8',
      { quota: 600, window: '1min', algorithm: 'fixed-window' },
      policy(600, 60),
      10,
    ],
  ])('follows %s at once, with none refused', async (name, limit, headersOf, limitPerSecond) => {
    const one = crowd(limit, headersOf)
    const { perSecond, refused } = await one.run(4)
    await one.end()
    console.log(
      `${name}: ${percent(perSecond / limitPerSecond)} of the limit, ${percent(refused)} refused`,
    )
    expect(refused).toBe(0)
    expect(perSecond / limitPerSecond).toBeGreaterThan(0.9)
    expect(perSecond / limitPerSecond).toBeLessThanOrEqual(1)
  })
})

describe('adaptive with a hostile hint', () => {
  it.each<[string, Record<string, string>]>([
    ['of ten years', { 'retry-after': '315360000' }],
    [
      'of a quota of 0',
      { ratelimit: '"a";r=0;t=999999999', 'ratelimit-policy': '"a";q=0;w=999999999' },
    ],
    [
      'of one request in 31 years',
      { 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '999999999' },
    ],
  ])('%s sends again within ten minutes', async (_, headers) => {
    const timers = fakeTimers(1_800_000_000_000)
    let sent = 0
    const send = adaptive(
      async () => {
        sent += 1
        return new Response(null, { status: 429, headers })
      },
      { timers, maxWait: '15min' },
    )
    await send('http://api.test/')
    const second = send('http://api.test/')
    await timers.advance(601_000)
    await second
    expect(sent).toBe(2)
  })
})

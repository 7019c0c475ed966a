import { memoryStore, type SyncStore, type Verdict } from 'sluice'
import { fakeClock } from 'sluice/testing'
import { parseList } from 'structured-headers'
import { describe, expect, test } from 'vitest'
import type { RateLimitResponse } from '../wire/response.ts'
import { decidedDomain } from './decided-domain.ts'
import { FileMatcher, type FileMatcherOptions } from './descriptor-matcher.ts'
import { type EnvoyHeaders } from '../../config/config.ts'

const limit = (requestsPerUnit: number, unit: string, name?: string) => ({
  rateLimit: { unit, requestsPerUnit, ...(name !== undefined && { name }) },
})
const CONFIG = {
  domain: 'shop',
  descriptors: [
    { key: 'user', ...limit(5, 'minute', 'per "user"\r\nx: y') },
    { key: 'all', ...limit(100, 'hour') },
    { key: 'blocked', ...limit(0, 'second') },
    { key: 'free', rateLimit: { unlimited: true } },
  ],
}

/** 20 s before a minute ends, 40 s after an hour began. */
const NOW = 40_000

/** The headers after some requests of [keys, hits], of the last one. */
function headersOf(
  headers: readonly EnvoyHeaders[],
  requests: readonly (readonly [string, number])[],
  options: FileMatcherOptions = {},
  store: SyncStore = memoryStore({ clock: fakeClock(NOW) }),
): Record<string, string> {
  const domain = decidedDomain(new FileMatcher(CONFIG, options), { store }, { headers })
  let response: RateLimitResponse | undefined
  for (const [keys, hits] of requests) {
    const descriptors = keys.split(' ').map((key) => ({
      entries: [{ key, value: 'a' }],
      limit: undefined,
      hits: undefined,
      negative: false,
    }))
    response = domain.decide({ domain: 'shop', descriptors, hits }) as RateLimitResponse
  }
  return Object.fromEntries(response!.responseHeaders.map(({ key, value }) => [key, value]))
}

const numbersOf = (verdict: Verdict): Verdict => {
  const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source } = verdict
  return { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source }
}

describe('the headers for the client', () => {
  test.each<[string, EnvoyHeaders[], [string, number][], Record<string, string>]>([
    [
      'retry-after on a refusal',
      ['retry-after'],
      [
        ['user', 5],
        ['user', 1],
      ],
      { 'Retry-After': '20' },
    ],
    ['nothing when allowed', ['retry-after'], [['user', 5]], {}],
    [
      'the longest wait of those that refuse',
      ['retry-after'],
      [
        ['user all', 5],
        ['all', 95],
        ['user all', 1],
      ],
      { 'Retry-After': '3560' },
    ],
    ['no wait where none helps', ['retry-after'], [['blocked', 1]], {}],
    ['no wait for more than ever fits', ['retry-after'], [['user', 6]], {}],
    [
      'nothing without a limit',
      ['retry-after', 'structured', 'x-ratelimit-delta'],
      [['free other', 1]],
      {},
    ],
    [
      'the limit nearest to refusing',
      ['x-ratelimit-delta'],
      [['all user', 2]],
      { 'X-RateLimit-Limit': '5', 'X-RateLimit-Remaining': '3', 'X-RateLimit-Reset': '20' },
    ],
    [
      'the older names',
      ['ratelimit-triple'],
      [['all', 1]],
      { 'RateLimit-Limit': '100', 'RateLimit-Remaining': '99', 'RateLimit-Reset': '3560' },
    ],
  ])('have %s', (_, dialects, requests, expected) => {
    expect(headersOf(dialects, requests)).toEqual(expected)
  })

  test('name every limit in their structured fields, and no name can end a field', () => {
    const headers = headersOf(['structured'], [['user all', 2]])
    expect(headers).toEqual({
      'RateLimit-Policy': '"per \\"user\\"??x: y";q=5;w=60, "2";q=100;w=3600',
      RateLimit: '"per \\"user\\"??x: y";r=3;t=20, "2";r=98;t=3560',
    })
    for (const value of Object.values(headers)) expect(parseList(value)).toHaveLength(2)
  })

  test('tell nothing of what a lease has left, and the waits of a refusal', () => {
    const counts = memoryStore({ clock: fakeClock(NOW) })
    // As an instance answers that has spent its lease.
    const store = {
      ...counts,
      take: (checks: Parameters<typeof counts.take>[0]) =>
        counts.take(checks).map((verdict) => ({
          ...numbersOf(verdict),
          ...(verdict.allowed && { source: 'lease' as const, remaining: 0 }),
        })),
    }
    const user = [['user', 5]] as const
    expect(headersOf(['structured', 'x-ratelimit-delta'], user, {}, store)).toEqual({
      'RateLimit-Policy': expect.stringMatching(/;q=5;w=60$/),
      'X-RateLimit-Limit': '5',
    })
    expect(headersOf(['structured', 'retry-after'], user, {}, store)).toEqual({
      'RateLimit-Policy': expect.stringMatching(/;q=5;w=60$/),
      RateLimit: expect.stringMatching(/;r=0;t=20$/),
      'Retry-After': '20',
    })
  })

  test('tell how long a bucket takes to fill', () => {
    const headers = headersOf(['structured'], [['user', 2]], { algorithm: 'token-bucket' })
    expect(headers['RateLimit-Policy']).toContain(';q=5;w=60')
    expect(headers['RateLimit']).toContain(';r=3;t=12')
  })
})

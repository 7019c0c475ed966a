import { describe, expect, it } from 'vitest'
import { hintOf, waitAfterRefusal, waitForSpentQuotas, type Hint } from './hint.ts'
import type { Quota } from './quota.ts'

const NOW = Date.UTC(2026, 10, 16, 12, 0, 0)
const DATE = 'Mon, 16 Nov 2026 12:00:00 GMT'
const read = (headers: Record<string, string>, now = NOW): Hint => hintOf(new Headers(headers), now)

describe('Retry-After', () => {
  it.each<[string, number | undefined]>([
    ['120', 120_000],
    ['0', 0],
    [' 3 ', 3000],
    ['2.0', 2000],
    ['0.0015', 2],
    ['Mon, 16 Nov 2026 12:00:30 GMT', 30_000],
    ['Monday, 16-Nov-26 12:01:00 GMT', 60_000],
    ['Mon Nov 16 12:02:00 2026', 120_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Mon, 16 Nov 2026 12:00:60 GMT', 60_000],
    ['315360000', 315_360_000_000],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
    ['5, 7', 7000],
    ['5, soon', undefined],
    ['-1', undefined],
    ['+3', undefined],
    ['1e3', undefined],
    ['NaN', undefined],
    ['Infinity', undefined],
    ['soon', undefined],
    ['0x10', undefined],
    ['', undefined],
    ['Mon, 31 Feb 2026 12:00:00 GMT', undefined],
    ['Mon, 16 Nov 2026 25:00:00 GMT', undefined],
    ['mon, 16 nov 2026 12:00:00 gmt', undefined],
    ['2026-11-16', undefined],
  ])('%j is %j ms', (value, wait) => {
    expect(read({ 'retry-after': value, date: DATE }).retryAfter).toBe(wait)
  })

  // Quadratic work on a million characters would take hours.
  it('is read in linear time, whatever its length', () => {
    expect(read({ 'retry-after': `1${' '.repeat(1_000_000)}1` }).retryAfter).toBeUndefined()
    expect(read({ 'retry-after': `1${' ,'.repeat(500_000)}1` }).retryAfter).toBeUndefined()
  })

  it('compares a date with the server’s clock, not with ours', () => {
    const headers = { 'retry-after': 'Mon, 16 Nov 2026 12:00:30 GMT', date: DATE }
    for (const wrongBy of [-86_400_000, 0, 86_400_000])
      expect(read(headers, NOW + wrongBy).retryAfter).toBe(30_000)
    expect(read({ 'retry-after': headers['retry-after'] }, NOW - 5000).retryAfter).toBe(35_000)
  })

  it('reads two-digit years more than 50 years ahead as the past century', () => {
    expect(read({ 'retry-after': 'Sunday, 06-Nov-94 08:49:37 GMT', date: DATE }).retryAfter).toBe(0)
  })

  it('is refined by a field in milliseconds, and the longer wait wins if they disagree', () => {
    expect(read({ 'retry-after': '2', 'retry-after-ms': '1300' }).retryAfter).toBe(1300)
    expect(read({ 'retry-after': '30', 'retry-after-ms': '10' }).retryAfter).toBe(30_000)
    expect(read({ 'retry-after-ms': '250' }).retryAfter).toBe(250)
    expect(read({ 'x-amz-retry-after': '750' }).retryAfter).toBe(750)
  })
})

describe('quotas', () => {
  const requests = { unit: 'requests' }
  it.each<[string, Record<string, string>, Quota[]]>([
    [
      'drafts 0 to 3: policies in the limit field',
      {
        'ratelimit-limit': '10, 10;w=1, 1000;w=3600',
        'ratelimit-remaining': '9',
        'ratelimit-reset': '1',
      },
      [{ ...requests, quota: 10, window: 1000, remaining: 9, resetAfter: 1000 }],
    ],
    [
      'drafts 4 to 6: a policy field beside the three',
      {
        'ratelimit-limit': '100',
        'ratelimit-remaining': '5',
        'ratelimit-reset': '30',
        'ratelimit-policy': '100;w=60',
      },
      [{ ...requests, quota: 100, window: 60_000, remaining: 5, resetAfter: 30_000 }],
    ],
    [
      'draft 7: a dictionary',
      { ratelimit: 'limit=100, remaining=50, reset=5', 'ratelimit-policy': '10;w=1, 100;w=60' },
      [{ ...requests, quota: 100, window: 60_000, remaining: 50, resetAfter: 5000 }],
    ],
    [
      'drafts 8 to 11: named items',
      {
        ratelimit: '"burst";r=50;t=30, "day";r=900',
        'ratelimit-policy': '"burst";q=100;w=60, "day";q=1000;w=86400',
      },
      [
        {
          ...requests,
          name: 'burst',
          quota: 100,
          window: 60_000,
          remaining: 50,
          resetAfter: 30_000,
        },
        { ...requests, name: 'day', quota: 1000, window: 86_400_000, remaining: 900 },
      ],
    ],
    [
      'tokens as names',
      { ratelimit: 'burst;r=1;t=2' },
      [{ ...requests, name: 'burst', remaining: 1, resetAfter: 2000 }],
    ],
    [
      'the proposed names',
      { ratelimit: '"api";a=99;w=60;c=2' },
      [{ ...requests, name: 'api', remaining: 99, resetAfter: 60_000 }],
    ],
    [
      'units',
      { ratelimit: '"b";r=5', 'ratelimit-policy': '"b";q=9;qu="content-bytes";w=1' },
      [{ name: 'b', unit: 'content-bytes', quota: 9, window: 1000, remaining: 5 }],
    ],
    [
      'RateLimit: a malformed item drops only itself',
      { ratelimit: '"a";r=-1, "b";r="x", "c";r=3, 5;r=1, "d"' },
      [{ ...requests, name: 'c', remaining: 3 }],
    ],
    [
      'a policy without an item',
      { ratelimit: '"a";r=1', 'ratelimit-policy': '"z";q=3;w=4' },
      [
        { ...requests, name: 'a', remaining: 1 },
        { ...requests, name: 'z', quota: 3, window: 4000 },
      ],
    ],
    ['a malformed field is ignored', { ratelimit: 'limit=, x', 'ratelimit-policy': '"a' }, []],
    [
      'GitHub: epoch seconds',
      {
        'x-ratelimit-limit': '5000',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(NOW / 1000 + 60),
        date: DATE,
      },
      [{ ...requests, quota: 5000, remaining: 0, resetAfter: 60_000 }],
    ],
    [
      'GitHub, with further fields',
      {
        'x-ratelimit-limit': '60',
        'x-ratelimit-remaining': '59',
        'x-ratelimit-used': '1',
        'x-ratelimit-resource': 'core',
        'x-ratelimit-reset': String(NOW / 1000 + 3600),
        date: DATE,
      },
      [{ ...requests, quota: 60, remaining: 59, resetAfter: 3_600_000 }],
    ],
    [
      'Envoy: policies with names behind the limit',
      {
        'x-ratelimit-limit': '10, 10;w=1;name="a", 1000;w=3600',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': '1',
      },
      [{ ...requests, quota: 10, window: 1000, remaining: 0, resetAfter: 1000 }],
    ],
    [
      'Kong: the three and the windows',
      {
        'ratelimit-limit': '5',
        'ratelimit-remaining': '4',
        'ratelimit-reset': '47',
        'x-ratelimit-limit-minute': '5',
      },
      [{ ...requests, quota: 5, remaining: 4, resetAfter: 47_000 }],
    ],
    [
      'Discord: an instant with a fraction',
      { 'x-ratelimit-reset': `${NOW / 1000 + 1}.25` },
      [{ ...requests, resetAfter: 1250 }],
    ],
    [
      'Shopify, spent',
      { 'x-shopify-shop-api-call-limit': '40/40', 'retry-after': '2.0' },
      [{ ...requests, name: 'shopify', quota: 40, window: 20_000, remaining: 0 }],
    ],
    ['Stripe: no counts at all', { 'stripe-should-retry': 'true' }, []],
    [
      'Twitter: other hyphens',
      {
        'x-rate-limit-limit': '15',
        'x-rate-limit-remaining': '1',
        'x-rate-limit-reset': String(NOW / 1000 + 900),
      },
      [{ ...requests, quota: 15, remaining: 1, resetAfter: 900_000 }],
    ],
    [
      'epoch milliseconds',
      { 'x-ratelimit-reset': String(NOW + 1234) },
      [{ ...requests, resetAfter: 1234 }],
    ],
    ['delta seconds', { 'x-ratelimit-reset': '59' }, [{ ...requests, resetAfter: 59_000 }]],
    [
      'an instant in the past',
      { 'x-ratelimit-reset': '1000000000' },
      [{ ...requests, resetAfter: 0 }],
    ],
    [
      'Discord: fractions',
      { 'x-ratelimit-reset': '1.5', 'x-ratelimit-reset-after': '0.25' },
      [{ ...requests, resetAfter: 250 }],
    ],
    [
      'ISO 8601',
      { 'x-ratelimit-reset': '2026-11-16T12:00:10Z' },
      [{ ...requests, resetAfter: 10_000 }],
    ],
    [
      'OpenAI: durations, requests and tokens',
      {
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': '59',
        'x-ratelimit-reset-requests': '1s',
        'x-ratelimit-limit-tokens': '150000',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '6m0s',
      },
      [
        { name: 'requests', unit: 'requests', quota: 60, remaining: 59, resetAfter: 1000 },
        { name: 'tokens', unit: 'tokens', quota: 150_000, remaining: 0, resetAfter: 360_000 },
      ],
    ],
    [
      'OpenAI: short durations',
      { 'x-ratelimit-reset-requests': '1m30.5s12ms' },
      [{ name: 'requests', unit: 'requests', resetAfter: 90_512 }],
    ],
    [
      'Kong: windows',
      { 'x-ratelimit-limit-minute': '5', 'x-ratelimit-remaining-minute': '4' },
      [{ ...requests, name: 'minute', quota: 5, window: 60_000, remaining: 4 }],
    ],
    [
      'Shopify',
      { 'x-shopify-shop-api-call-limit': '32/40' },
      [{ ...requests, name: 'shopify', quota: 40, window: 20_000, remaining: 8 }],
    ],
    [
      'GitLab: an instant in ratelimit-reset',
      { 'ratelimit-reset': String(NOW / 1000 + 5) },
      [{ ...requests, resetAfter: 5000 }],
    ],
    ['a negative count is 0', { 'x-ratelimit-remaining': '-3' }, [{ ...requests, remaining: 0 }]],
    [
      'nonsense',
      { 'x-ratelimit-limit': 'many', 'x-ratelimit-remaining': 'NaN', 'x-ratelimit-reset': 'later' },
      [],
    ],
    ['a cached response', { ratelimit: '"a";r=0;t=60', age: '3' }, []],
    [
      'RateLimit-Policy alone',
      { 'ratelimit-policy': '"burst";q=10;w=1, "day";q=1000;w=86400' },
      [
        { ...requests, name: 'burst', quota: 10, window: 1000 },
        { ...requests, name: 'day', quota: 1000, window: 86_400_000 },
      ],
    ],
    [
      'RateLimit-Policy does not hide X-RateLimit-*',
      {
        'ratelimit-policy': '"burst";q=100;w=60',
        'x-ratelimit-limit': '100',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': '7',
      },
      [{ ...requests, quota: 100, window: 60_000, remaining: 0, resetAfter: 7000 }],
    ],
    [
      'the only policy completes a reset without a limit',
      { 'ratelimit-policy': '"burst";q=100;w=60', 'x-ratelimit-reset': '7' },
      [{ ...requests, name: 'burst', quota: 100, window: 60_000, resetAfter: 7000 }],
    ],
    [
      'RateLimit without a valid item does not hide X-RateLimit-*',
      { ratelimit: '"a";r=-1', 'x-ratelimit-remaining': '3' },
      [{ ...requests, remaining: 3 }],
    ],
    [
      'RateLimit-Policy: a member with w=0 drops only itself',
      { 'ratelimit-policy': '"a";q=10;w=0, "b";q=5;w=60, "c";w=1, 7;w=-1' },
      [{ ...requests, name: 'b', quota: 5, window: 60_000 }],
    ],
    [
      'RateLimit-Limit: a policy with w=0 drops only itself, and another limit is not taken for it',
      {
        'ratelimit-limit': '100, 100;w=0, 1000;w=3600',
        'ratelimit-remaining': '1',
        'ratelimit-reset': '3',
      },
      [{ ...requests, quota: 100, remaining: 1, resetAfter: 3000 }],
    ],
    ['no header', {}, []],
  ])('%s', (_, headers, quotas) => {
    expect(read(headers).quotas).toEqual(quotas)
  })
})

describe('the wait of a hint', () => {
  it('is the longest among the spent quotas', () => {
    expect(waitForSpentQuotas(read({ ratelimit: '"a";r=0;t=5, "b";r=0;t=9, "c";r=1;t=99' }))).toBe(
      9000,
    )
    expect(waitForSpentQuotas(read({ ratelimit: '"a";r=0, "c";r=1;t=99' }))).toBeUndefined()
  })

  it('after a 429 is the reset of the quotas that do not say how much is left', () => {
    expect(waitAfterRefusal(read({ 'x-ratelimit-reset': '7' }))).toBe(7000)
    expect(waitAfterRefusal(read({ ratelimit: '"a";r=1;t=9' }))).toBeUndefined()
    expect(waitAfterRefusal(read({ 'retry-after': '2', 'x-ratelimit-reset': '7' }))).toBe(2000)
  })
})

describe('shouldRetry', () => {
  it.each([
    [{ 'x-should-retry': 'false' }, false],
    [{ 'stripe-should-retry': 'true' }, true],
    [{ 'stripe-should-retry': 'maybe' }, undefined],
    [{}, undefined],
  ])('of %j is %j', (headers, expected) => {
    expect(read(headers as Record<string, string>).shouldRetry).toBe(expected)
  })
})

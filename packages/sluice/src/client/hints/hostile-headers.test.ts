// Hostile headers: whatever they contain, no call waits longer than its bound, and nothing throws.
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../../test/length.ts'
import { fakeTimers } from '../../testing/fake-timers.ts'
import { adaptive } from '../adaptive.ts'
import { polite, type Fetch } from '../polite.ts'
import { hintOf, waitForSpentQuotas } from './hint.ts'

const NOW = Date.UTC(2026, 10, 16, 12, 0, 0)
const TRIPLES = ['ratelimit', 'x-ratelimit', 'x-rate-limit'].flatMap((prefix) =>
  ['limit', 'remaining', 'reset', 'reset-after', 'reset-requests', 'limit-minute'].map(
    (name) => `${prefix}-${name}`,
  ),
)
const OTHERS =
  'retry-after retry-after-ms x-amz-retry-after date age x-should-retry ratelimit ratelimit-policy x-shopify-shop-api-call-limit'
const NAMES = [...OTHERS.split(' '), ...TRIPLES]
const LONG = lengthOf(30_000, 100_000)
const VALUES: Record<string, string> = {
  'too large for a number': '1e999',
  '400 digits': '9'.repeat(400),
  'beyond whole numbers': '9007199254740993',
  'ten years': '315360000',
  negative: '-1',
  'negative and huge': '-9'.padEnd(30, '9'),
  'not a number': 'NaN',
  infinite: 'Infinity',
  hexadecimal: '0x7fffffff',
  'a long fraction': `0.${'3'.repeat(1000)}`,
  'just below an instant': '999999999',
  'just below an instant in milliseconds': '999999999999',
  'an instant of the past': '1000000000',
  'a date of the past': 'Thu, 01 Jan 1970 00:00:00 GMT',
  'a date far ahead': 'Fri, 31 Dec 9999 23:59:59 GMT',
  'a date that is none': 'Mon, 99 Foo 2026 99:99:99 GMT',
  'ISO, far ahead': '9999-12-31T23:59:59Z',
  'ISO, beyond all dates': '9999-99-99T99:99:99Z',
  'a long duration': '99999999999d',
  'many durations': '9d9h9m9s9ms9d9h9m9s9ms9d9h9m9s9ms9d9h9m',
  twice: '0, 999999999',
  'twice, once nonsense': '1, soon',
  'spent for ever': '"a";r=0;t=999999999999999',
  'a policy for ever': '"a";q=1;w=999999999999999',
  'a policy of nothing': '"a";q=0;w=1',
  'a number with a policy': '999999999999999, 1;w=999999999999999',
  'draft 7, for ever': 'limit=0, remaining=0, reset=999999999999999',
  'names of objects': '__proto__;r=0;t=1, constructor;r=0, "toString";r=0;t=1',
  'very many digits': '7'.repeat(LONG),
  'very many spaces': `1${' '.repeat(LONG)}1`,
  'very many commas': ','.repeat(LONG),
  'very many numbers': '9,'.repeat(LONG / 2),
  'very many quotes': '"'.repeat(LONG),
  'very many backslashes': `"${'\\'.repeat(LONG)}`,
  'very many lists': '('.repeat(LONG),
  'very many items': Array.from({ length: LONG / 15 }, (_, i) => `"a${i}";r=0;t=9`).join(', '),
  'very many policies': Array.from({ length: LONG / 15 }, (_, i) => `"b${i}";q=0;w=9`).join(', '),
  'very many items with policies': Array.from(
    { length: LONG / 25 },
    (_, i) => `"c${i}";r=0;t=9;q=1;w=9`,
  ).join(', '),
  'very many parameters': `"a"${';a=1'.repeat(LONG / 4)}`,
  'very many fractions': `1.${'1.'.repeat(LONG / 2)}`,
  'a very long date': `Mon, 16 Nov 2026 12:00:00 GMT${' GMT'.repeat(LONG / 4)}`,
}

/** One header, and all of them at once. */
const answers = (value: string, names = NAMES): readonly Headers[] => [
  ...names.map((name) => new Headers({ [name]: value })),
  new Headers(NAMES.map((name): [string, string] => [name, value])),
]
/** The fields that make a client wait. */
const WAITS = ['retry-after', 'retry-after-ms', 'ratelimit', 'ratelimit-reset', 'x-ratelimit-reset']

describe.each(Object.entries(VALUES))('%s', (_, value) => {
  // Quadratic work on 100 kB would exceed the timeout many times over.
  it('is read in linear time as a finite wait or ignored', () => {
    for (const headers of answers(value)) {
      const hint = hintOf(headers, NOW)
      const waits = [
        hint.retryAfter,
        waitForSpentQuotas(hint),
        ...hint.quotas.map((one) => one.resetAfter),
      ]
      for (const wait of waits)
        expect(wait === undefined || (Number.isSafeInteger(wait) && wait >= 0)).toBe(true)
      for (const { quota = 0, remaining = 0, window = 1 } of hint.quotas)
        expect(quota >= 0 && remaining >= 0 && window > 0 && Number.isFinite(window)).toBe(true)
    }
  })

  it('delays a polite fetch no longer than its total time', async () => {
    for (const headers of answers(value, WAITS)) {
      const timers = fakeTimers(NOW)
      const server: Fetch = async () => new Response(null, { status: 429, headers })
      const send = polite(server, { timers, totalTime: '30s' })
      const both = Promise.all([send('http://api.test/'), send('http://api.test/')])
      await timers.advance(30_000)
      expect((await both).map(({ status }) => status)).toEqual([429, 429])
      expect(timers.pending).toBe(0)
    }
  })

  it('delays an adaptive fetch no longer than ten minutes', async () => {
    for (const headers of answers(value, WAITS)) {
      const timers = fakeTimers(NOW)
      let sent = 0
      const server: Fetch = async () => {
        sent += 1
        return new Response(null, { status: 429, headers })
      }
      const send = adaptive(server, { timers, maxWait: '11min' })
      await send('http://api.test/')
      const second = send('http://api.test/')
      await timers.advance(601_000)
      await second
      expect(sent).toBe(2)
      expect([...send.rates().values()].every((rate) => rate > 0)).toBe(true)
    }
  })
})

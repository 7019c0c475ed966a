// Everything that people get wrong: a clear error that names it, and nothing counted.
import { describe, expect, it } from 'vitest'
import { SluiceError } from '../errors.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Store } from '../stores/store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { createLimiter, type LimiterOptions } from './create-limiter.ts'

/** The mistake that a call ends in. */
function mistake(call: () => unknown): SluiceError {
  try {
    call()
  } catch (error) {
    if (error instanceof SluiceError) return error
    throw error
  }
  throw new Error('nothing was wrong with it')
}

const make = (options: unknown): unknown => createLimiter(options as LimiterOptions)
const rule = { name: 'per-user', by: ['user'], limit: '1/min' }

describe('limits', () => {
  it.each<[what: string, limit: unknown, message: string]>([
    ['a negative quota', { quota: -1, window: '1m' }, 'quota is -1; accepted: a whole number'],
    ['a negative quota as text', '-5/min', 'quota is "-5"; accepted: a whole number'],
    ['a fractional quota', { quota: 1.5, window: '1m' }, 'quota is 1.5; accepted: a whole number'],
    ['a fractional quota as text', '1.5/min', 'quota is "1.5"; accepted: a whole number'],
    ['a quota of NaN', { quota: Number.NaN, window: '1m' }, 'quota is NaN; accepted'],
    ['an infinite quota', { quota: Infinity, window: '1m' }, 'quota is Infinity; accepted'],
    ['a quota as text', { quota: '5', window: '1m' }, 'quota is "5"; accepted'],
    ['no quota', { window: '1m' }, 'quota is missing; accepted'],
    ['a window of 0', { quota: 1, window: 0 }, 'window is 0; accepted: whole milliseconds above 0'],
    ['a window of 0 as text', '5/0s', 'window is "0s"; accepted: whole milliseconds above 0'],
    ['a negative window', { quota: 1, window: -5 }, 'window is -5; accepted'],
    ['a duration without meaning', { quota: 1, window: '1 moon' }, 'window is "1 moon"; accepted'],
    ['a fractional duration', { quota: 1, window: '1.5h' }, 'window is "1.5h"; accepted'],
    ['a rate without meaning', 'often', 'rate is "often"; accepted: a string such as'],
    ['a burst of 0', { quota: 5, window: '1m', burst: 0 }, 'burst is 0; accepted: a whole number'],
    ['a negative burst', { quota: 5, window: '1m', burst: -1 }, 'burst is -1; accepted'],
    ['a fractional burst', { quota: 5, window: '1m', burst: 0.5 }, 'burst is 0.5; accepted'],
    [
      'an unknown algorithm',
      { quota: 5, window: '1m', algorithm: 'magic' },
      'algorithm is "magic"; accepted: token-bucket, gcra, leaky-bucket, ',
    ],
    [
      'units times window beyond exact numbers',
      { quota: 1_000_000_000_000, window: '40d' },
      'times a window of 3456000000 ms is above 2^52',
    ],
    [
      'a number alone',
      100,
      "limit 100: a number has no window; write '100/min', or { quota: 100, window: '1min' }",
    ],
    ['nothing at all', null, "limit null: accepted: a string such as '100/min'"],
    ['a list', ['100/min'], 'limit ["100/min"]: accepted: a string such as'],
    ['a switch', true, 'or { quota, window, algorithm, burst, '],
  ])('with %s', (_, limit, message) => {
    const alone = mistake(() => make({ limit }))
    expect(alone.code).toBe('invalid-limit')
    expect(alone.message).toContain(message)
    const inPolicy = mistake(() =>
      make({ policy: { name: 'api', rules: [{ ...rule, limit: limit ?? {} }] } }),
    )
    expect(inPolicy.code).toBe('invalid-policy')
    expect(inPolicy.message).toContain('rules[0].limit')
  })

  it('with a quota of 0 are legal and refuse everything but a look', () => {
    const limiter = createLimiter({ limit: '0/min' })
    expect(limiter.check('a')).toMatchObject({ allowed: false, remaining: 0, retryAfter: null })
    expect(limiter.check('a', 0).allowed).toBe(true)
    limiter.close()
  })

  it('with a window of 40 days are legal and wait 40 days', () => {
    const clock = fakeClock(1_800_000_000_000)
    const store = memoryStore({ clock })
    const limiter = createLimiter({ limit: '1/40d', store })
    expect(limiter.check('a').allowed).toBe(true)
    const { retryAfter } = limiter.check('a')
    expect(retryAfter).toBe(40 * 86_400_000)
    clock.advance(retryAfter! - 1)
    expect(limiter.check('a').allowed).toBe(false)
    clock.advance(1)
    expect(limiter.check('a').allowed).toBe(true)
    store.close()
  })
})

describe('policies', () => {
  it.each<[what: string, policy: unknown, message: string]>([
    ['no rules', { name: 'api', rules: [] }, 'rules is []; accepted: a list of at least one rule'],
    ['no list of rules', { name: 'api' }, 'rules is missing; accepted'],
    ['no name', { rules: [rule] }, 'name is missing; accepted'],
    ['nothing', null, 'policy is null; accepted: an object with name and rules'],
    [
      'two rules of one name',
      { name: 'api', rules: [rule, rule] },
      'rules[1].name is "per-user", the name of rules[0]; accepted: a name of its own',
    ],
    [
      'an attribute without a name',
      { name: 'api', rules: [{ ...rule, by: [''] }] },
      'rules[0].by[0] is ""; accepted',
    ],
    ['by that is no list', { name: 'api', rules: [{ ...rule, by: 'user' }] }, 'rules[0].by is'],
    ['no by', { name: 'api', rules: [{ name: 'x', limit: '1/s' }] }, 'rules[0].by is missing'],
    [
      'a fractional cost',
      { name: 'api', rules: [{ ...rule, cost: 1.5 }] },
      'rules[0].cost is 1.5; accepted',
    ],
    [
      'a misspelt field',
      { name: 'api', rules: [{ ...rule, shadwo: true }] },
      'rules[0].shadwo is not a known field; did you mean shadow?',
    ],
  ])('with %s', (_, policy, message) => {
    const error = mistake(() => make({ policy }))
    expect(error.code).toBe('invalid-policy')
    expect(error.message).toContain(message)
    expect(error.problems.length).toBeGreaterThan(0)
  })
})

describe('options', () => {
  const write =
    "write createLimiter({ limit: '100/min' }) or createLimiter({ policy: { name, rules } })"
  it.each<[what: string, options: unknown, message: string]>([
    ['nothing', undefined, `options are undefined; ${write}`],
    ['null', null, `options are null; ${write}`],
    ['a limit alone', '5/min', `options are "5/min"; ${write}`],
    ['a number alone', 5, `options are 5; ${write}`],
    ['neither limit nor policy', {}, `neither limit nor policy is given; ${write}`],
    [
      'a limit that is undefined',
      { limit: undefined },
      `neither limit nor policy is given; ${write}`,
    ],
    [
      'both',
      { limit: '1/s', policy: { name: 'a', rules: [rule] } },
      'both limit and policy are given; accepted: one of them, as a policy has its own limits',
    ],
    [
      'an unknown one',
      { limit: '1/s', stroe: {} },
      'unknown option "stroe"; did you mean store? accepted: limit,',
    ],
    ['a store that is none', { limit: '1/s', store: {} }, 'store is {}; accepted: memoryStore()'],
    ['a store that is null', { limit: '1/s', store: null }, 'store is null; accepted'],
    ['hashKeys as text', { limit: '1/s', hashKeys: 'yes' }, 'hashKeys is "yes"; accepted: true'],
  ])('with %s', (_, options, message) => {
    const error = mistake(() => make(options))
    expect(error.code).toBe('invalid-option')
    expect(error.message).toContain(`createLimiter: ${message}`)
  })
})

type Row = readonly [what: string, code: string, says: string, attributes: unknown, cost?: unknown]

const costs = 'accepted: a whole number of units, from 0 to 2^53 - 1'
const attributes = 'accepted: a'
const rows: readonly Row[] = [
  ['an empty key', 'invalid-attributes', `attributes are ""; ${attributes}`, ''],
  ['no attributes', 'invalid-attributes', `attributes are undefined; ${attributes}`, undefined],
  ['null', 'invalid-attributes', `attributes are null; ${attributes}`, null],
  ['a number', 'invalid-attributes', `attributes are 42; ${attributes}`, 42],
  ['a list', 'invalid-attributes', `attributes are ["a"]; ${attributes}`, ['a']],
  ['an object as a value', 'invalid-attributes', 'attribute "key" is {"id":1}', { key: { id: 1 } }],
  ['NaN as a value', 'invalid-attributes', 'attribute "key" is NaN', { key: Number.NaN }],
  [
    'a key over 64 kB',
    'invalid-key',
    'has 65537 characters; accepted: at most 65536',
    'x'.repeat(65_537),
  ],
  ['a fractional cost', 'invalid-cost', `cost is 0.5; ${costs}`, 'a', 0.5],
  ['a negative cost', 'invalid-cost', `cost is -1; ${costs}`, 'a', -1],
  ['a cost of NaN', 'invalid-cost', `cost is NaN; ${costs}`, 'a', Number.NaN],
  ['an infinite cost', 'invalid-cost', `cost is Infinity; ${costs}`, 'a', Infinity],
  ['a cost of 2^53', 'invalid-cost', `cost is 9007199254740992; ${costs}`, 'a', 2 ** 53],
  ['a cost as text', 'invalid-cost', `cost is "1"; ${costs}`, 'a', '1'],
  ['a cost of null', 'invalid-cost', `cost is null; ${costs}`, 'a', null],
  ['a cost of true', 'invalid-cost', `cost is true; ${costs}`, 'a', true],
  ['a cost as bigint', 'invalid-cost', `cost is 1n; ${costs}`, 'a', 1n],
  [
    'a bad cost attribute',
    'invalid-cost',
    `attribute units is 1.5; ${costs}`,
    { key: 'a', units: 1.5 },
  ],
  [
    'a cost attribute as text',
    'invalid-cost',
    `attribute units is "5"; ${costs}`,
    { key: 'a', units: '5' },
  ],
  [
    'a negative cost attribute',
    'invalid-cost',
    `attribute units is -1; ${costs}`,
    { key: 'a', units: -1 },
  ],
]
const calls = rows.map(([what, code, says, attributes, cost]) => ({
  what,
  code,
  says,
  // What the types would not let through.
  attributes: attributes as string,
  cost: cost as number,
}))

describe('requests', () => {
  const store = memoryStore()
  const policy = {
    name: 'api',
    rules: [
      { name: 'first', by: [], limit: '9/min' },
      { name: 'second', by: ['key'], limit: '9/min', cost: 'units' },
    ],
  } as const
  const ruled = createLimiter({ policy, store })
  const bare = createLimiter({ limit: '9/min', store })

  it.each(calls)('with $what', ({ code, says, attributes, cost }) => {
    const limiters = says.startsWith('attribute units') ? [ruled] : [ruled, bare]
    for (const limiter of limiters) {
      for (const method of ['check', 'peek', 'refund'] as const) {
        const error = mistake(() => limiter[method](attributes, cost))
        expect(error.code).toBe(code)
        expect(error.message).toContain(says)
        expect(error.transient).toBe(false)
      }
    }
    expect(store.stats()).toEqual({ keys: 0, bytes: 0, evicted: 0, overflowed: 0 })
  })

  it.each(calls)(
    'with $what reject on a store that answers by promises',
    async ({ code, says, attributes, cost }) => {
      const remote: Store = {
        take: async (checks) => store.take(checks),
        peek: async (checks) => store.peek(checks),
        refund: async (checks) => store.refund(checks),
        reset: async (checks) => store.reset(checks),
        close: async () => {},
      }
      const limiter = createLimiter({ policy, store: remote })
      for (const method of ['check', 'peek', 'refund'] as const) {
        await expect(limiter[method](attributes, cost)).rejects.toMatchObject({
          code,
          message: expect.stringContaining(says) as string,
        })
      }
      expect(store.stats().keys).toBe(0)
    },
  )

  it('with a key of exactly 64 kB are counted', () => {
    const key = 'x'.repeat(65_536)
    const limiter = createLimiter({ limit: '1/min' })
    expect(limiter.check(key).allowed).toBe(true)
    expect(limiter.check(key).allowed).toBe(false)
    limiter.close()
  })

  it('with the largest cost are refused for good', () => {
    const decision = bare.check('a', 2 ** 53 - 1)
    expect(decision).toMatchObject({ allowed: false, retryAfter: null, remaining: 9 })
  })
})

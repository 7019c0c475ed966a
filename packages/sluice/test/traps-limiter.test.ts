// Traps of limiters, policies and stores as a whole, found in published limiters.
import { describe, expect, it } from 'vitest'
import type { SluiceError } from '../src/errors.ts'
import { limit } from '../src/limit/limit.ts'
import { createLimiter, type LimiterOptions } from '../src/limiter/create-limiter.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import type { Check } from '../src/stores/store.ts'
import { fakeClock } from '../src/testing/fake-clock.ts'
import { inMemory } from './in-memory.ts'
import { ALGORITHMS } from './walks.ts'

const NOW = 1_800_000_000_000

/** A limiter whose clock stands still. */
const limiterOf = (options: LimiterOptions, clock = fakeClock(NOW)) =>
  createLimiter({ ...options, store: memoryStore({ clock }) })

describe('many at once', () => {
  it.each(ALGORITHMS)(
    'trap: check, await, then count: racers in one process all pass (%s)',
    async (algorithm) => {
      const limiter = limiterOf({ limit: { algorithm, quota: 10, window: '1h' } })
      const racer = async () => {
        await Promise.resolve()
        const { allowed } = limiter.check('key')
        await new Promise((resolve) => setImmediate(resolve))
        return allowed
      }
      const answers = await Promise.all(Array.from({ length: 200 }, racer))
      expect(answers.filter(Boolean)).toHaveLength(10)
    },
  )

  it('trap: rules are charged one after the other, and a later refusal leaves the earlier ones charged', () => {
    const limiter = limiterOf({
      policy: {
        name: 'api',
        rules: [
          { name: 'wide', by: ['tenant'], limit: '100/min' },
          { name: 'narrow', by: ['user'], limit: '2/min' },
          { name: 'everyone', by: [], limit: '1000/min' },
        ],
      },
    })
    const ann = { tenant: 'acme', user: 'ann' }
    for (let i = 0; i < 50; i++) limiter.check(ann)
    const { outcomes } = limiter.peek({ tenant: 'acme', user: 'bob' }, 0)
    expect(outcomes.map(({ rule, remaining }) => [rule, remaining])).toEqual([
      ['wide', 98],
      ['narrow', 2],
      ['everyone', 998],
    ])
  })

  it('trap: of several refusals the shortest wait is told, and the retry is refused again', () => {
    const limiter = limiterOf({
      policy: {
        name: 'api',
        rules: [
          { name: 'second', by: ['key'], limit: '1/s' },
          { name: 'hour', by: ['key'], limit: '1/h' },
        ],
      },
    })
    limiter.check('key')
    expect(limiter.check('key')).toMatchObject({
      allowed: false,
      rule: 'hour',
      retryAfter: 3_600_000,
    })
  })
})

describe('handing back', () => {
  it.each(['fixed-window', 'sliding-log', 'token-bucket', 'gcra', 'leaky-bucket'] as const)(
    'trap: a refund goes to another window than the charge (%s)',
    (algorithm) => {
      const key = inMemory('5/s', { algorithm })
      key.take(NOW + 900, 5)
      key.take(NOW + 2000, 5)
      key.refund(NOW + 2000, 5, NOW + 900)
      expect(key.peek(NOW + 2000).remaining).toBe(0)
    },
  )

  it('trap: a refund goes to another window than the charge (sliding-window)', () => {
    const key = inMemory('5/s', { algorithm: 'sliding-window' })
    key.take(NOW + 900, 5)
    key.take(NOW + 2000, 5)
    key.refund(NOW + 2000, 5, NOW + 900)
    expect(key.peek(NOW + 2000).remaining).toBe(0)
    key.take(NOW + 3500, 2)
    key.refund(NOW + 3500, 5, NOW + 2000)
    // Of the previous window, which counts half; the two of this window stay.
    expect(key.peek(NOW + 3500).remaining).toBe(3)
  })

  it.each(ALGORITHMS)('trap: a refund lifts the count above the quota (%s)', (algorithm) => {
    const key = inMemory('5/s', { algorithm })
    key.take(NOW, 2)
    key.refund(NOW, 4, NOW)
    key.refund(NOW, 4, NOW)
    expect(key.take(NOW, 6).allowed).toBe(false)
    expect(key.take(NOW, 5)).toMatchObject({ allowed: true, remaining: 0 })
  })

  it.each(ALGORITHMS)(
    'trap: a refund for a key that is not known makes a negative count (%s)',
    (algorithm) => {
      const key = inMemory('5/s', { algorithm })
      key.refund(NOW, 5, NOW)
      expect(key.store.stats().keys).toBe(0)
      expect(key.take(NOW, 1).remaining).toBe(4)
    },
  )
})

describe('input', () => {
  it.each([NaN, Infinity, '1' as unknown as number])(
    'trap: a refund taken at %s poisons the key',
    (at) => {
      const limiter = limiterOf({ limit: '5/s' })
      limiter.check('key', 3)
      expect(() => limiter.refund('key', 1, at)).toThrow(/takenAt/)
      expect(limiter.peek('key').remaining).toBe(2)
    },
  )

  it.each([NaN, -1, 0.5, Infinity, 2 ** 53, '1' as unknown as number])(
    'trap: a cost of %s slips through a comparison, or mints units',
    (cost) => {
      const limiter = limiterOf({ limit: '5/s' })
      limiter.check('key', 3)
      for (const verb of ['check', 'peek', 'refund'] as const) {
        expect(() => limiter[verb]('key', cost)).toThrow(
          expect.objectContaining({ code: 'invalid-cost' } satisfies Partial<SluiceError>),
        )
      }
      expect(limiter.peek('key').remaining).toBe(2)
    },
  )

  it.each([NaN, -1, 0.5, Infinity, 2 ** 53, '1' as unknown as number, null as unknown as number])(
    'trap: a quota or burst of %s is taken for a limit',
    (value) => {
      const invalid = expect.objectContaining({
        code: 'invalid-limit',
      } satisfies Partial<SluiceError>)
      expect(() => limit({ quota: value, window: '1s' })).toThrow(invalid)
      expect(() => limit({ quota: 5, window: '1s', burst: value })).toThrow(invalid)
    },
  )

  it.each(ALGORITHMS)('trap: a quota of 0 means no limit (%s)', (algorithm) => {
    const limiter = limiterOf({ limit: { algorithm, quota: 0, window: '1s' } })
    expect(limiter.check('key')).toMatchObject({ allowed: false, retryAfter: null, remaining: 0 })
    expect(limiter.check('key', 0).allowed).toBe(true)
  })

  it.each(ALGORITHMS)(
    'trap: a limit that is changed reads the old state wrongly (%s)',
    (algorithm) => {
      const store = memoryStore({ clock: fakeClock(NOW) })
      const made = (rate: '10/min' | '4/min' | '20/min' | '10/h') =>
        createLimiter({ store, limit: limit(rate, { algorithm }) })
      made('10/min').check('key', 6)
      // Lowered: nothing is left, nothing is negative. Raised: what was spent stays spent.
      expect(made('4/min').check('key')).toMatchObject({ allowed: false, remaining: 0 })
      expect(made('20/min').peek('key').remaining).toBe(14)
      // Another window is another count: its state means something else.
      expect(made('10/h').peek('key').remaining).toBe(10)
      expect(made('10/min').peek('key').remaining).toBe(4)
    },
  )
})

describe('keys', () => {
  const byTwo = {
    policy: { name: 'p', rules: [{ name: 'r', by: ['a', 'b'], limit: '1/min' as const }] },
  }

  it('trap: keys are joined without escaping, so two callers share one count', () => {
    const limiter = limiterOf(byTwo)
    const pairs = [
      ['x:y', 'z'],
      ['x', 'y:z'],
      ['1:x', 'y'],
      ['1', 'x1:y'],
      ['x', 'y'],
      ['~', 'x'],
      ['~x', '~'],
    ]
    for (const [a, b] of pairs) expect(limiter.check({ a: a!, b: b! }).allowed).toBe(true)
    for (const [a, b] of pairs) expect(limiter.check({ a: a!, b: b! }).allowed).toBe(false)
  })

  it('trap: keys have no bound, and a megabyte of key is kept for each', () => {
    const store = memoryStore({ clock: fakeClock(NOW) })
    const keys: string[] = []
    const spied = {
      ...store,
      take: (checks: readonly Check[]) => (keys.push(checks[0]!.key), store.take(checks)),
    }
    const limiter = createLimiter({ store: spied, limit: '1/min' })
    expect(limiter.check('x'.repeat(60_000)).allowed).toBe(true)
    expect(limiter.check(`${'x'.repeat(59_999)}y`).allowed).toBe(true)
    expect(Math.max(...keys.map((key) => key.length))).toBeLessThan(200)
    expect(() => limiter.check('x'.repeat(1_000_000))).toThrow(/at most 65536/)
  })

  it('trap: the number of keys in memory has no bound', () => {
    const store = memoryStore({ clock: fakeClock(NOW), maxKeys: 100 })
    const limiter = createLimiter({ store, limit: '10/min' })
    for (let i = 0; i < 10_000; i++) limiter.check(`visitor ${i}`)
    expect(store.stats().keys).toBeLessThanOrEqual(100)
  })

  it.each(ALGORITHMS)(
    'trap: a flood of new keys evicts an attacker, who begins anew (%s)',
    (algorithm) => {
      const store = memoryStore({ clock: fakeClock(NOW), maxKeys: 100 })
      const limiter = createLimiter({ store, limit: { algorithm, quota: 5, window: '1min' } })
      for (let i = 0; i < 5; i++) limiter.check('attacker')
      for (let i = 0; i < 10_000; i++) limiter.check(`visitor ${i}`)
      expect(limiter.check('attacker')).toMatchObject({ allowed: false, remaining: 0 })
    },
  )

  it('trap: a store full of keys over their limit lets every new key through', () => {
    const store = memoryStore({ clock: fakeClock(NOW), maxKeys: 100 })
    const limiter = createLimiter({ store, limit: '1/min' })
    const answers = Array.from({ length: 10_000 }, (_, i) => limiter.check(`visitor ${i}`).allowed)
    expect(answers.filter(Boolean).length).toBeLessThanOrEqual(101)
  })

  it('trap: what a prototype has is taken for an attribute or a tier', () => {
    const limiter = limiterOf({
      policy: {
        name: 'p',
        rules: [
          {
            name: 'r',
            by: ['user'],
            limit: '1/min',
            tiers: { attribute: 'plan', limits: { paid: '5/min' } },
          },
        ],
      },
    })
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect(limiter.check({ user: name, plan: name }).limit?.quota).toBe(1)
      expect(limiter.check({ user: name, plan: name }).allowed).toBe(false)
    }
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ALGORITHMS, limit } from '../limit/limit.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { createLimiter } from './create-limiter.ts'

const START = 1_800_000_000_000

describe('a limiter made from a bare limit', () => {
  it('is enough to start with', () => {
    const clock = fakeClock(START)
    const limiter = createLimiter({ limit: '2/min', store: memoryStore({ clock }) })
    expect(limiter.check('user:42')).toMatchObject({ allowed: true, remaining: 1 })
    expect(limiter.check('user:42')).toMatchObject({ allowed: true, remaining: 0 })
    expect(limiter.check('user:42')).toMatchObject({ allowed: false, retryAfter: 30_000 })
    expect(limiter.check('user:43').allowed).toBe(true)
    clock.advance(30_000)
    expect(limiter.check('user:42').allowed).toBe(true)
  })

  it('counts a string and the attribute key alike', () => {
    const limiter = createLimiter({ limit: '2/min' })
    expect(limiter.check('a').allowed).toBe(true)
    expect(limiter.check({ key: 'a' }).allowed).toBe(true)
    expect(limiter.check('a').allowed).toBe(false)
    limiter.close()
  })

  it('has one rule, which it names default', () => {
    const limiter = createLimiter({ limit: { quota: 2, window: '1m', algorithm: 'gcra' } })
    expect(limiter.check('a')).toMatchObject({ rule: 'default', limit: { algorithm: 'gcra' } })
    limiter.close()
  })

  it('refuses anything but a key, which no rule would limit', () => {
    const limiter = createLimiter({ limit: '1/min' })
    for (const attributes of [{}, { user: 'a' }, { key: '' }, { key: undefined }]) {
      expect(() => limiter.check(attributes)).toThrow(/accepted: a key that is not empty, such as/)
    }
    expect(limiter.check({ key: 'a' }).allowed).toBe(true)
    limiter.close()
  })

  it('refuses a string where no rule uses a key', () => {
    const rules = [{ name: 'rule', by: ['user'], limit: '1/min' }] as const
    const limiter = createLimiter({ policy: { name: 'test', rules } })
    expect(() => limiter.check('ann')).toThrow(/no rule of this policy uses a key/)
    limiter.close()
    const everyone = [{ name: 'rule', by: [], limit: '1/min' }] as const
    const other = createLimiter({ policy: { name: 'test', rules: everyone } })
    expect(other.check('ann').allowed).toBe(true)
    other.close()
  })

  // A string key on the memory store takes the fast path, whose answers must be the same.
  it.each(ALGORITHMS)('answers a string as it answers attributes: %s', (algorithm) => {
    const step = fc.record({
      wait: fc.integer({ min: 0, max: 8000 }),
      key: fc.constantFrom('a', 'b', '~a', 'x'.repeat(200)),
      cost: fc.constantFrom(undefined, 1, 0, 2, 6),
    })
    const walk = fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const clock = fakeClock(START)
      const make = () =>
        createLimiter({ limit: limit('5/10s', { algorithm }), store: memoryStore({ clock }) })
      const [texts, attributes] = [make(), make()]
      for (const { wait, key, cost } of steps) {
        clock.advance(wait)
        expect(JSON.stringify(texts.check(key, cost))).toBe(
          JSON.stringify(attributes.check({ key }, cost)),
        )
      }
    })
    fc.assert(walk, { numRuns: 50 })
  })
})

describe('limiters on one store', () => {
  const store = () => memoryStore({ clock: fakeClock(START) })
  const rule = { name: 'rule', by: ['key'], limit: '2/min' } as const

  it('share the counts of rules that are the same', () => {
    const shared = store()
    const policy = { name: 'api', rules: [rule] }
    const [one, other] = [1, 2].map(() => createLimiter({ policy, store: shared }))
    expect(one!.check('a').allowed).toBe(true)
    expect(other!.check('a').allowed).toBe(true)
    expect(one!.check('a').allowed).toBe(false)
  })

  it('keep counts through a new quota, and begin afresh with a new algorithm or window', () => {
    const shared = store()
    const make = (limit: '2/min' | '5/min' | '5/h' | object) =>
      createLimiter({
        policy: { name: 'api', rules: [{ ...rule, limit: limit as '2/min' }] },
        store: shared,
      })
    make('2/min').check('a', 2)
    expect(make('5/min').peek('a').remaining).toBe(3)
    expect(make({ quota: 5, window: '1min', burst: 3 }).peek('a').remaining).toBe(1)
    expect(make('5/h').peek('a').remaining).toBe(5)
    expect(make({ quota: 5, window: '1min', algorithm: 'gcra' }).peek('a').remaining).toBe(5)
  })

  it('keep apart what policies of different names count', () => {
    const shared = store()
    for (const name of ['web', 'api']) {
      const limiter = createLimiter({ policy: { name, rules: [rule] }, store: shared })
      expect(limiter.check('a', 2).allowed).toBe(true)
    }
  })
})

describe('hashKeys', () => {
  it('keeps values out of the store, and answers alike', () => {
    const keys: string[] = []
    const inner = memoryStore({ clock: fakeClock(START) })
    const store = {
      sync: true as const,
      take: (checks: Parameters<typeof inner.take>[0]) => {
        keys.push(...checks.map(({ key }) => key))
        return inner.take(checks)
      },
      peek: (checks: Parameters<typeof inner.take>[0]) => inner.peek(checks),
      refund: (checks: Parameters<typeof inner.take>[0]) => inner.refund(checks),
      reset: (checks: Parameters<typeof inner.take>[0]) => inner.reset(checks),
      close: () => inner.close(),
    }
    const limiter = createLimiter({ limit: '1/min', store, hashKeys: true })
    expect(limiter.check('secret').allowed).toBe(true)
    expect(limiter.check('secret').allowed).toBe(false)
    expect(limiter.check('other').allowed).toBe(true)
    limiter.reset('secret')
    expect(limiter.check('secret').allowed).toBe(true)
    expect(keys).toHaveLength(4)
    for (const key of keys) expect(key).toMatch(/^~[\w-]{43}$/)
  })
})

it('does not change with the policy object that it was made from', () => {
  const rules = [{ name: 'rule', by: ['key'], limit: '1/min' as const }]
  const limiter = createLimiter({ policy: { name: 'api', rules } })
  rules[0]!.by.push('user')
  rules.length = 0
  expect(limiter.check('a').allowed).toBe(true)
  expect(limiter.check('a').allowed).toBe(false)
  limiter.close()
})

import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { ALGORITHMS, limit } from '../limit/limit.ts'
import type { Policy } from '../policy/policy.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Store, SyncStore } from '../stores/store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { createLimiter } from './create-limiter.ts'

const START = 1_800_000_000_000

/** A store like any in another process: it answers later. */
function remote(store: SyncStore): Store {
  return {
    take: async (checks) => store.take(checks),
    peek: async (checks) => store.peek(checks),
    refund: async (checks) => store.refund(checks),
    reset: async (checks) => store.reset(checks),
    close: async () => store.close(),
  }
}

const policyOf = (algorithm: (typeof ALGORITHMS)[number]): Policy => ({
  name: 'test',
  rules: [
    { name: 'user', by: ['user'], limit: limit('5/10s', { algorithm }), cost: 'units' },
    { name: 'anonymous', when: { user: 'absent' }, by: ['ip'], limit: '2/10s' },
    { name: 'trial', by: [], limit: '3/10s', shadow: true },
    { name: 'login', when: { route: '/login' }, by: ['ip'], limit: '1/10s', countRefused: true },
  ],
})

describe('a limiter on a store that answers by promises', () => {
  const step = fc.record({
    wait: fc.integer({ min: 0, max: 6000 }),
    call: fc.constantFrom('check', 'check', 'check', 'peek', 'refund', 'reset'),
    attributes: fc.record(
      {
        user: fc.constantFrom('a', 'b'),
        ip: fc.constantFrom('192.0.2.1', '192.0.2.2'),
        route: fc.constant('/login'),
        units: fc.integer({ min: 0, max: 6 }),
      },
      { requiredKeys: [] },
    ),
    cost: fc.integer({ min: 0, max: 3 }),
  })

  it.each(ALGORITHMS)('gives the answers that it gives at once: %s', async (algorithm) => {
    const walk = fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const clock = fakeClock(START)
      const policy = policyOf(algorithm)
      const near = createLimiter({ policy, store: memoryStore({ clock }) })
      const far = createLimiter({ policy, store: remote(memoryStore({ clock })) })
      for (const { wait, call, attributes, cost } of steps) {
        clock.advance(wait)
        const now = near[call as 'check'](attributes, cost)
        const later = await far[call as 'check'](attributes, cost)
        expect(JSON.stringify(later)).toBe(JSON.stringify(now))
      }
    })
    await fc.assert(walk, { numRuns: 50 })
  })

  it('is called once for all rules, and not at all when none applies', async () => {
    const store = remote(memoryStore())
    const take = vi.spyOn(store, 'take')
    const rules = [
      { name: 'a', by: ['user'], limit: '5/min' },
      { name: 'b', by: ['user'], limit: '9/min' },
    ] as const
    const limiter = createLimiter({ policy: { name: 'test', rules }, store })
    await limiter.check({ user: 'ann' })
    expect(take).toHaveBeenCalledTimes(1)
    expect(take.mock.calls[0]![0].map(({ space }) => space)).toEqual([
      expect.stringContaining('1:a'),
      expect.stringContaining('1:b'),
    ])
    await limiter.check({})
    expect(take).toHaveBeenCalledTimes(1)
  })

  it('hands the store plain checks: space, key, limit, cost, shadow and countRefused', async () => {
    const store = remote(memoryStore())
    const take = vi.spyOn(store, 'take')
    const rules = [
      { name: 'a', by: ['user'], limit: '5/min', shadow: true, countRefused: true },
    ] as const
    await createLimiter({ policy: { name: 'test', rules }, store }).check({ user: 'ann' }, 3)
    expect(take.mock.calls[0]![0]).toMatchObject([
      {
        space: '1:14:test1:a12:token-bucket5:600004:user',
        key: 'ann',
        limit: limit('5/min'),
        cost: 3,
        shadow: true,
        countRefused: true,
      },
    ])
  })

  it('without resilience passes on the error of a store that cannot answer', async () => {
    const gone = new Error('gone')
    const store: Store = { ...remote(memoryStore()), take: () => Promise.reject(gone) }
    const limiter = createLimiter({ limit: '1/s', store, resilience: false })
    await expect(limiter.check('a')).rejects.toBe(gone)
  })

  it('without resilience rejects when the store throws', async () => {
    const store: Store = {
      ...remote(memoryStore()),
      take: () => {
        throw new Error('gone')
      },
    }
    const limiter = createLimiter({ limit: '1/s', store, resilience: false })
    await expect(limiter.check('a')).rejects.toThrow('gone')
  })

  it('understands the promises of another realm, as some test runners make them', async () => {
    const near = memoryStore()
    const Foreign = runInNewContext('Promise') as PromiseConstructor
    const foreign: Store['take'] = (checks) => Foreign.resolve(near.take(checks))
    const store: Store = { ...remote(near), take: foreign }
    const limiter = createLimiter({ limit: '1/min', store })
    expect((await limiter.check('a')).allowed).toBe(true)
    expect((await limiter.check('a')).allowed).toBe(false)
  })
})

describe('a limiter on a store that answers at once', () => {
  it('returns no promises', () => {
    const limiter = createLimiter({ limit: '5/min' })
    const answers = [limiter.check('a'), limiter.check({ key: 'a' }, 2), limiter.peek('a')]
    for (const answer of answers) {
      expect(answer).not.toHaveProperty('then')
      expect(typeof answer.allowed).toBe('boolean')
    }
    expect([limiter.refund('a'), limiter.reset('a'), limiter.close()]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('works on a store without counts', () => {
    const whole = memoryStore({ clock: fakeClock(START) })
    const store: SyncStore = {
      sync: true,
      take: (checks) => whole.take(checks),
      peek: (checks) => whole.peek(checks),
      refund: (checks) => whole.refund(checks),
      reset: (checks) => whole.reset(checks),
      close: () => whole.close(),
    }
    const limiter = createLimiter({ limit: '1/min', store })
    expect([limiter.check('a').allowed, limiter.check('a').allowed]).toEqual([true, false])
  })
})

// Limits on trial: they change no decision, and answer as they would alone.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLimiter } from '../src/limiter/create-limiter.ts'
import { ALGORITHMS, type AlgorithmName } from '../src/limit/limit.ts'
import type { Rule } from '../src/policy/policy.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import type { Check, SyncStore } from '../src/stores/store.ts'
import { fakeClock } from '../src/testing/fake-clock.ts'
import { runs } from './walks.ts'

const START = 1_800_000_000_000
const limits = fc.record({
  algorithm: fc.constantFrom<AlgorithmName>(...ALGORITHMS),
  quota: fc.integer({ min: 1, max: 6 }),
  window: fc.constantFrom(1000, 5000),
})
const requests = fc.array(
  fc.record({
    user: fc.constantFrom('a', 'b'),
    ip: fc.constantFrom('x', 'y', undefined),
    plan: fc.constantFrom('free', undefined),
    cost: fc.integer({ min: 0, max: 3 }),
    wait: fc.integer({ min: 0, max: 1500 }),
  }),
  { maxLength: 60 },
)

describe('a candidate', () => {
  it('changes no decision, whatever its limit is, and answers as it would alone', () => {
    const walk = fc.property(limits, limits, limits, requests, (own, trial, other, path) => {
      const clock = fakeClock(START)
      const rules = (candidate: object): Rule[] => [
        { name: 'user', by: ['user'], limit: own, ...candidate },
        { name: 'ip', by: ['ip'], limit: other, countRefused: true },
        {
          name: 'tiered',
          by: ['user'],
          limit: other,
          tiers: { attribute: 'plan', limits: { free: 'unlimited' } },
          ...candidate,
        },
      ]
      const store = memoryStore({ clock })
      const tried = createLimiter({
        policy: { name: 'p', rules: rules({ candidate: trial }) },
        store,
      })
      const plain = createLimiter({
        policy: { name: 'p', rules: rules({}) },
        store: memoryStore({ clock }),
      })
      const alone = createLimiter({ limit: trial, store: memoryStore({ clock }) })
      for (const { cost, wait, ...attributes } of path) {
        clock.advance(wait)
        const decision = tried.check(attributes, cost)
        expect(JSON.stringify(decision)).toBe(JSON.stringify(plain.check(attributes, cost)))
        const [candidate, tiered] = decision.candidates!
        const lone = alone.check(attributes.user, cost)
        expect(candidate).toMatchObject({
          rule: 'user',
          allowed: lone.allowed,
          remaining: lone.remaining,
          enforced: decision.outcomes[0]!.allowed,
          place: 0,
        })
        // A request of a tier keeps its limit and tries nothing.
        expect(tiered === undefined).toBe(attributes.plan === 'free')
      }
    })
    fc.assert(walk, runs(100))
  })

  it('is decided in the same call of the store', () => {
    const inner = memoryStore({ clock: fakeClock(START) })
    const calls: (readonly Check[])[] = []
    const store: SyncStore = {
      sync: true,
      take: (checks) => {
        calls.push(checks)
        return inner.take(checks)
      },
      peek: (checks) => inner.peek(checks),
      refund: (checks) => inner.refund(checks),
      reset: (checks) => inner.reset(checks),
      close: () => inner.close(),
    }
    const rule = { name: 'user', by: ['user'], limit: '5/min', candidate: '1/min' } as const
    const limiter = createLimiter({ policy: { name: 'p', rules: [rule] }, store })
    limiter.check({ user: 'a' })
    const { candidates, allowed } = limiter.check({ user: 'a' })
    expect(allowed).toBe(true)
    expect(candidates).toMatchObject([{ rule: 'user', allowed: false, enforced: true }])
    expect(calls).toHaveLength(2)
    expect(calls[1]).toMatchObject([{ key: 'a' }, { key: 'a', shadow: true, candidate: true }])
    expect(calls[1]![0]!.space).not.toBe(calls[1]![1]!.space)
  })

  it('is refunded and reset with its rule, and is not in the JSON of a decision', () => {
    const rule = { name: 'user', by: ['user'], limit: '5/min', candidate: '1/min' } as const
    const limiter = createLimiter({ policy: { name: 'p', rules: [rule] } })
    const answer = (): boolean => limiter.check({ user: 'a' }).candidates![0]!.allowed
    expect([answer(), answer()]).toEqual([true, false])
    limiter.refund({ user: 'a' })
    expect([answer(), answer()]).toEqual([true, false])
    limiter.reset({ user: 'a' })
    expect(answer()).toBe(true)
    expect(JSON.stringify(limiter.check({ user: 'a' }))).not.toContain('candidates')
  })
})

describe('the move from a fixed to a sliding window', () => {
  it('newly refuses only the client that retries in a tight loop across the edge', () => {
    const clock = fakeClock(START)
    const limiter = createLimiter({
      policy: {
        name: 'api',
        rules: [
          {
            name: 'per-user',
            by: ['user'],
            limit: { quota: 10, window: '1min', algorithm: 'fixed-window' },
            candidate: { quota: 10, window: '1min', algorithm: 'sliding-window' },
          },
        ],
      },
      store: memoryStore({ clock }),
    })
    const newly = new Map<string, number>()
    const ask = (user: string): void => {
      for (const { allowed, enforced } of limiter.check({ user }).candidates!)
        if (enforced && !allowed) newly.set(user, (newly.get(user) ?? 0) + 1)
    }
    // Ten minutes: one client spreads nine requests over each minute, another asks twice a second.
    for (let second = 0; second < 600; second++) {
      if (second % 7 === 0 && second % 60 < 56) ask('polite')
      ask('loop')
      ask('loop')
      clock.advance(1000)
    }
    expect(newly.has('polite')).toBe(false)
    // Of the 100 that the fixed window granted, the sliding one would have refused about half.
    expect(newly.get('loop')).toBeGreaterThan(20)
  })
})

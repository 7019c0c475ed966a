import { describe, expect, it } from 'vitest'
import { createBudget } from '../budgets/create-budget.ts'
import { createLimiter } from '../limiter/create-limiter.ts'
import type { Rule } from '../policy/policy.ts'
import { withHolds } from '../stores/holds/with-holds.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import type { Decision } from './decision.ts'
import { explain } from './explain.ts'

const START = 1_800_000_000_000

function limited(...rules: Rule[]) {
  const clock = fakeClock(START)
  const store = memoryStore({ clock })
  return { limiter: createLimiter({ policy: { name: 'test', rules }, store }), clock }
}

describe('explain', () => {
  const perUser: Rule = {
    name: 'per-user',
    by: ['user'],
    limit: { quota: 100, window: '1min', burst: 20 },
  }

  it('says which rule refused, how much is left and when the next fits', () => {
    const { limiter, clock } = limited(perUser)
    limiter.check({ user: 'a' }, 20)
    clock.advance(180)
    expect(explain(limiter.check({ user: 'a' }))).toBe(
      'refused by per-user: token bucket 100/min, burst 20: 0 of 20 units left, 1 needed, free in 420 ms',
    )
    clock.advance(1800)
    expect(explain(limiter.check({ user: 'a' }, 12))).toBe(
      'refused by per-user: token bucket 100/min, burst 20: 3 of 20 units left, 12 needed, free in 5.3 s',
    )
  })

  it('says that an operator has blocked the request, and for how long', () => {
    const { limiter } = limited(perUser)
    const decision: Decision = {
      ...(JSON.parse(JSON.stringify(limiter.check({}))) as Decision),
      allowed: false,
      reason: 'blocked',
      retryAfter: 90_000,
      skipped: [],
    }
    expect(explain(decision)).toBe('refused: blocked for another 1 min 30 s')
  })

  it('says how much is left of what was allowed, and when all of it is back', () => {
    const { limiter } = limited(perUser)
    expect(explain(limiter.check({ user: 'a' }))).toBe(
      'allowed by per-user: token bucket 100/min, burst 20: 19 of 20 units left, full in 600 ms',
    )
  })

  it('counts slots, which are no rate', () => {
    const store = withHolds(memoryStore({ clock: fakeClock(START) }))
    const policy = { name: 'jobs', rules: [{ name: 'at-once', by: ['user'], concurrency: 2 }] }
    const budget = createBudget({ policy, store })
    budget.enter({ user: 'a' })
    expect(explain(budget.enter({ user: 'a' }).decision)).toBe(
      'allowed by at-once: 2 at once, hold 1min: 0 of 2 slots left, full in 1 min',
    )
    expect(explain(budget.enter({ user: 'a' }).decision)).toBe(
      'refused by at-once: 2 at once, hold 1min: 0 of 2 slots left, 1 needed, free in 1 min',
    )
    budget.close()
  })

  it('says of a full count only what is left', () => {
    const { limiter } = limited(perUser)
    expect(explain(limiter.peek({ user: 'a' }))).toBe(
      'allowed by per-user: token bucket 100/min, burst 20: 20 of 20 units left',
    )
  })

  it('says that a cost can never fit', () => {
    const { limiter } = limited(perUser, { name: 'closed', by: [], limit: '0/min' })
    expect(explain(limiter.check({ user: 'a' }, 21))).toBe(
      'refused by per-user: token bucket 100/min, burst 20: a cost of 21 can never fit, the most at once is 20\n' +
        'refused by closed: token bucket 0/min: a cost of 21 can never fit, the most at once is 0',
    )
  })

  it('says how long a request is held', () => {
    const { limiter } = limited({
      name: 'pace',
      by: [],
      limit: { quota: 5, window: '1s', algorithm: 'leaky-bucket' },
    })
    limiter.check({})
    expect(explain(limiter.check({}))).toBe(
      'allowed by pace: leaky bucket 5/s: 3 of 5 units left, full in 400 ms, held for 200 ms',
    )
  })

  it('has one line for each rule: enforced, shadow, skipped, lifted', () => {
    const { limiter } = limited(
      {
        name: 'plan',
        by: ['user'],
        limit: '2/h',
        overrides: [{ when: { user: 'a' }, limit: 'unlimited' }],
      },
      { name: 'wide', by: ['user'], limit: '10/10s' },
      {
        name: 'trial',
        by: ['user'],
        limit: { quota: 1, window: '1d', algorithm: 'sliding-log' },
        shadow: true,
      },
      { name: 'by-ip', by: ['ip'], limit: '5/s' },
    )
    expect(explain(limiter.check({ user: 'a' })).split('\n')).toEqual([
      'allowed by wide: token bucket 10/10s: 9 of 10 units left, full in 1 s',
      'shadow: allowed by trial: sliding log 1/day: 0 of 1 unit left, full in 1 d',
      'skipped plan: unlimited for this request',
      'skipped by-ip: attribute ip is not known',
    ])
    expect(explain(limiter.check({ user: 'a' })).split('\n')[1]).toBe(
      'shadow: would be refused by trial: sliding log 1/day: 0 of 1 unit left, 1 needed, free in 1 d',
    )
  })

  it('says that no rule had a say', () => {
    const skipped = limited(perUser).limiter.check({})
    expect(explain(skipped)).toBe(
      'allowed: no rule limits this request\nskipped per-user: attribute user is not known',
    )
    const shadow = limited({ ...perUser, shadow: true }).limiter.check({ user: 'a' })
    expect(explain(shadow)).toBe(
      'allowed: no rule limits this request\n' +
        'shadow: allowed by per-user: token bucket 100/min, burst 20: 19 of 20 units left, full in 600 ms',
    )
    const nothing = limited({ ...perUser, when: { user: 'present' } }).limiter.check({})
    expect(explain(nothing)).toBe('allowed: no rule limits this request')
  })

  it('says who answered when it was not the store', () => {
    const { limiter } = limited(perUser)
    const plain = JSON.parse(JSON.stringify(limiter.check({ user: 'a' }))) as Decision
    const outcomes = plain.outcomes.map((outcome) => ({ ...outcome, source: 'fallback' as const }))
    expect(explain({ ...plain, outcomes })).toMatch(/^allowed \(fallback\) by per-user: /)
  })

  it('reads a decision that has been through JSON', () => {
    const { limiter } = limited(perUser, { name: 'all', by: [], limit: '5/s' })
    const decision = limiter.check({ user: 'a' })
    expect(explain(JSON.parse(JSON.stringify(decision)) as Decision)).toBe(explain(decision))
  })

  it.each<[millis: number, text: string]>([
    [1, '1 ms'],
    [999, '999 ms'],
    [1000, '1 s'],
    [1001, '1.1 s'],
    [59_900, '59.9 s'],
    [59_901, '1 min'],
    [60_000, '1 min'],
    [60_001, '1 min 1 s'],
    [90_000, '1 min 30 s'],
    [3_599_000, '59 min 59 s'],
    [3_599_001, '1 h'],
    [3_600_000, '1 h'],
    [3_600_001, '1 h 1 min'],
    [86_399_999, '1 d'],
    [86_400_001, '1 d 1 h'],
    [40 * 86_400_000, '40 d'],
  ])('writes a wait of %i ms as %s, never shorter than it is', (window, text) => {
    const { limiter } = limited({ name: 'once', by: [], limit: { quota: 1, window } })
    limiter.check({})
    expect(explain(limiter.check({}))).toMatch(new RegExp(`, free in ${text}$`))
  })
})

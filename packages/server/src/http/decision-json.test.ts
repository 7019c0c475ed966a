import fc from 'fast-check'
import { ALGORITHMS, createLimiter, limit, memoryStore, type Policy } from 'sluice'
import { fakeClock } from 'sluice/testing'
import { expect, it } from 'vitest'
import { decisionJson } from './decision-json.ts'

it.each(ALGORITHMS)('is the text that JSON.stringify gives: %s', (algorithm) => {
  const step = fc.record({
    wait: fc.integer({ min: 0, max: 5000 }),
    attributes: fc.record(
      {
        user: fc.constantFrom('ann', 'bob'),
        ip: fc.constantFrom('192.0.2.1', '192.0.2.2'),
        plan: fc.constantFrom('free', 'staff'),
      },
      { requiredKeys: [] },
    ),
    cost: fc.integer({ min: 0, max: 9 }),
    call: fc.constantFrom('check' as const, 'peek' as const),
  })
  const policy: Policy = {
    name: 'test',
    rules: [
      {
        name: 'per "user"',
        by: ['user'],
        limit: limit('5/10s', { algorithm }),
        tiers: { attribute: 'plan', limits: { staff: 'unlimited' } },
      },
      { name: 'address', by: ['ip'], limit: '3/10s', hidden: true },
      { name: 'tried', by: ['ip'], limit: limit('1/10s', { algorithm }), shadow: true },
    ],
  }
  const walk = fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
    const clock = fakeClock(1_800_000_000_000)
    const limiter = createLimiter({ policy, store: memoryStore({ clock }) })
    for (const { wait, attributes, cost, call } of steps) {
      clock.advance(wait)
      const decision = limiter[call](attributes, cost)
      expect(decisionJson(decision)).toBe(JSON.stringify(decision))
    }
  })
  fc.assert(walk, { numRuns: 100 })
})

it('is the same for a limiter of one limit', () => {
  const limiter = createLimiter({ limit: '2/min' })
  for (const cost of [1, 1, 1, 50]) {
    const decision = limiter.check('a', cost)
    expect(decisionJson(decision)).toBe(JSON.stringify(decision))
  }
  limiter.close()
})

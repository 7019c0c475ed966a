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

it('is the same while the store cannot be reached', async () => {
  const lost = () => Promise.reject(new Error('unreachable'))
  const store = { take: lost, peek: lost, refund: lost, reset: lost, close: () => {} }
  const rules = [
    { name: 'one', by: ['user'], limit: '2/min' },
    { name: 'open', by: ['open'], limit: '2/min', onStoreFailure: 'open' as const },
    { name: 'closed', by: ['closed'], limit: '2/min', onStoreFailure: 'closed' as const },
    { name: 'tried', by: ['ip'], limit: '1/min', shadow: true },
  ]
  const resilience = { onEvent: () => {} }
  const limiter = createLimiter({ policy: { name: 'test', rules }, store, resilience })
  const users = [1, 2, 3].map(() => ({ user: 'ann', ip: '192.0.2.1' }))
  for (const attributes of [...users, { user: 'bob' }, { open: 1 }, { closed: 1, user: 'eve' }]) {
    const decision = await limiter.check(attributes)
    expect(decision.degraded).toBe(true)
    expect(decisionJson(decision)).toBe(JSON.stringify(decision))
  }
  await limiter.close()
})

import fc from 'fast-check'
import { ALGORITHMS, createLimiter, limit, memoryStore, type Decision, type Policy } from 'sluice'
import { fakeClock } from 'sluice/testing'
import { expect, it } from 'vitest'
import { briefDecisionJson, decisionJson } from './decision-json.ts'

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
      expect(briefDecisionJson(decision)).toBe(brief(decision))
    }
  })
  fc.assert(walk, { numRuns: 100 })
})

it('is the same for a limiter of one limit', () => {
  const limiter = createLimiter({ limit: '2/min' })
  for (const cost of [1, 1, 1, 50]) {
    const decision = limiter.check('a', cost)
    expect(decisionJson(decision)).toBe(JSON.stringify(decision))
    expect(briefDecisionJson(decision)).toBe(brief(decision))
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
    expect(briefDecisionJson(decision)).toBe(brief(decision))
  }
  await limiter.close()
})

it('has the id of a refusal', () => {
  const limiter = createLimiter({ limit: '1/min', identify: () => 'id-7' })
  for (const id of [undefined, 'id-7']) {
    const decision = limiter.check('a')
    expect(JSON.parse(briefDecisionJson(decision))).toMatchObject(id === undefined ? {} : { id })
    expect(briefDecisionJson(decision)).toBe(brief(decision))
  }
  limiter.close()
})

/** The text that JSON.stringify gives of all but the outcomes and the rules that were skipped. */
function brief(decision: Decision): string {
  const { outcomes, skipped, ...rest } = JSON.parse(JSON.stringify(decision)) as Decision
  expect([outcomes, skipped]).toEqual([expect.any(Array), expect.any(Array)])
  return JSON.stringify(rest)
}

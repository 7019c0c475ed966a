import { expect, it } from 'vitest'
import { createBudget } from '../budgets/create-budget.ts'
import { withHolds } from '../stores/holds/with-holds.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { createLimiter } from './create-limiter.ts'
import type { LimiterWarning } from './skipped-rules.ts'

const slots = { name: 'at-once', by: ['user'], concurrency: 2, hold: '30s' } as const
const rate = { name: 'rate', by: ['user'], limit: '10/h' } as const

function made(fields: object = {}) {
  const store = withHolds(memoryStore())
  const policy = { name: 'jobs', rules: [rate, { ...slots, ...fields }] } as never
  const warnings: LimiterWarning[] = []
  const limiter = createLimiter({ policy, store, onWarning: (one) => warnings.push(one) })
  return { limiter, budget: createBudget({ policy, store }), warnings }
}

it('a check is refused while all slots are taken, and charges nothing', () => {
  const { limiter, budget, warnings } = made()
  const [first] = [budget.enter({ user: 'a' }), budget.enter({ user: 'a' })]
  const refused = limiter.check({ user: 'a' })
  expect(refused).toMatchObject({ allowed: false, rule: 'at-once', remaining: 0 })
  expect(refused.retryAfter).toBeGreaterThan(0)
  expect(limiter.peek({ user: 'a' })).toMatchObject({ allowed: false, rule: 'at-once' })
  expect(limiter.check({ user: 'b' }).allowed).toBe(true)
  first!.leave()
  const allowed = limiter.check({ user: 'a' })
  // Two entered, and one check was allowed.
  expect(allowed.outcomes.map(({ remaining }) => remaining)).toEqual([7, 1])
  expect(warnings.map(({ code }) => code)).toEqual(['slots-not-taken'])
})

it('a check that finds all slots free is reported once', () => {
  const { limiter, warnings } = made()
  for (let i = 0; i < 3; i++) limiter.check({ user: 'a' })
  expect(warnings.map(({ code }) => code)).toEqual(['slots-not-taken'])
  expect(warnings[0]!.message).toContain('rule at-once has concurrency, and check takes no slot')
})

it('a rule that does not apply is not looked at', () => {
  const { limiter, warnings } = made({ when: { plan: 'free' } })
  expect(limiter.check({ user: 'a' }).outcomes.map(({ rule }) => rule)).toEqual(['rate'])
  expect(warnings).toEqual([])
})

it('a shadow rule refuses nothing', () => {
  const { limiter, budget } = made({ shadow: true })
  for (let i = 0; i < 2; i++) budget.enter({ user: 'a' })
  expect(limiter.check({ user: 'a' }).allowed).toBe(true)
})

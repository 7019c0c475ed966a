import { describe, expect, it } from 'vitest'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { createBudget, type BudgetRule } from './create-budget.ts'

const tokens: BudgetRule = { name: 'tokens', by: ['team'], limit: '100/day', hold: '60s' }

function world(rule: BudgetRule) {
  const clock = fakeClock()
  const policy = { name: 'llm', rules: [rule] }
  return { clock, budget: createBudget({ policy, store: memoryStore({ clock }) }) }
}

describe('a caller of a shared count', () => {
  it('holds at most half of the limit, in any number of reservations, and others hold the rest', () => {
    const { budget, clock } = world(tokens)
    const ann = { team: 'a', user: 'ann' }
    const first = budget.reserve(ann, 30)
    expect(budget.reserve(ann, 20).allowed).toBe(true)
    const refused = budget.reserve(ann, 1)
    expect(refused).toMatchObject({ allowed: false, id: '' })
    expect(refused.decision).toMatchObject({ rule: 'tokens', remaining: 0, retryAfter: 60_000 })
    expect(refused.decision.outcomes).toHaveLength(1)
    expect(budget.reserve({ team: 'a', user: 'bob' }, 50).allowed).toBe(true)
    expect(budget.reserve({ team: 'a', user: 'cid' }, 1).allowed).toBe(false)

    budget.settle(first.id, 10)
    expect(budget.reserve(ann, 20).allowed).toBe(true)
    clock.set(59_999)
    expect(budget.reserve(ann, 20).allowed).toBe(false)
    clock.set(60_000)
    expect(budget.reserve(ann, 20).allowed).toBe(true)
  })

  it('is known by its API key if there is no user, and each key is a caller', () => {
    const { budget } = world({ ...tokens, holdShare: 0.1 })
    expect(budget.reserve({ team: 'a', apiKey: '1' }, 100).units).toBe(10)
    expect(budget.reserve({ team: 'a', apiKey: '1' }, 1).allowed).toBe(false)
    expect(budget.reserve({ team: 'a', apiKey: '2' }, 10).allowed).toBe(true)
    expect(budget.reserve({ team: 'a', user: '1' }, 10).allowed).toBe(true)
  })

  it.each<[string, BudgetRule, object]>([
    ['its own', { ...tokens, by: ['user'] }, { user: 'ann' }],
    ['of callers who are not known', tokens, { team: 'a', ip: '192.0.2.1' }],
  ])('may hold all of a count that is %s', (_, rule, attributes) => {
    const { budget } = world(rule)
    expect(budget.reserve({ ...attributes }, 50).allowed).toBe(true)
    expect(budget.reserve({ ...attributes }, 50).allowed).toBe(true)
    expect(budget.reserve({ ...attributes }, 1).allowed).toBe(false)
  })

  it('loses none of its share by refusals, which the rule alone counts', () => {
    const { budget, clock } = world({ ...tokens, limit: '100/min', countRefused: true })
    const ann = { team: 'a', user: 'ann' }
    const held = [budget.reserve({ team: 'a', user: 'bob' }, 50), budget.reserve(ann, 30)]
    // The rule has room for 20, and the share too.
    expect(budget.reserve(ann, 30).allowed).toBe(false)
    for (const { id } of held) budget.cancel(id)
    clock.advance(15_000)
    expect(budget.reserve(ann, 50).allowed).toBe(true)
  })

  it('keeps its share while a reservation is extended, and has it back when it is cancelled', () => {
    const { budget, clock } = world(tokens)
    const ann = { team: 'a', user: 'ann' }
    const { id } = budget.reserve(ann, 50)
    clock.set(50_000)
    expect(budget.extend(id)).toMatchObject({ status: 'settled', endsAt: 110_000 })
    clock.set(109_999)
    expect(budget.reserve(ann, 1).allowed).toBe(false)
    expect(budget.cancel(id)).toMatchObject({ rules: [{ rule: 'tokens', charged: 0 }] })
    expect(budget.reserve(ann, 50).allowed).toBe(true)
  })
})

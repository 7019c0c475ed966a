import { describe, expect, it } from 'vitest'
import { watchThresholds } from '../decision/thresholds.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import type { Timers } from '../time/timers.ts'
import type { SyncBudget, Usage } from './budget.ts'
import { createBudget, type BudgetRule } from './create-budget.ts'

const tokens: BudgetRule = { name: 'tokens', by: ['team'], limit: '1000/min', hold: '60s' }

function world(...rules: BudgetRule[]): {
  budget: SyncBudget
  clock: ReturnType<typeof fakeClock>
  tick: () => void
} {
  const clock = fakeClock()
  let timer: (() => void) | undefined
  const timers: Timers = {
    start: (run) => (timer = run),
    stop: () => (timer = undefined),
    afterTurn: (run) => run(),
  }
  const store = memoryStore({ clock })
  return {
    budget: createBudget({ policy: { name: 'llm', rules }, store, timers }),
    clock,
    tick: () => timer?.(),
  }
}

describe('a reservation', () => {
  it('holds the estimate until it is settled, and charges what it really cost', () => {
    const { budget } = world({ ...tokens, holdShare: 1 })
    const first = budget.reserve({ team: 'a' }, 600)
    expect(first).toMatchObject({ allowed: true, units: 600, endsAt: 60_000 })
    expect(budget.reserve({ team: 'a' }, 600)).toMatchObject({ allowed: false, id: '' })
    expect(budget.settle(first.id, 100)).toMatchObject({
      status: 'settled',
      charged: 100,
      uncharged: 0,
      rules: [{ rule: 'tokens', remaining: 900 }],
    })
    expect(budget.settle(first.id, 100)).toMatchObject({ status: 'repeated', charged: 100 })
    expect(budget.reserve({ team: 'a' }, 900).allowed).toBe(true)
  })

  it('is settled by any budget of its policy and store, by what its id says', () => {
    const store = memoryStore({ clock: fakeClock() })
    const policy = { name: 'llm', rules: [{ ...tokens, holdShare: 1 }] }
    const [here, there] = [createBudget({ policy, store }), createBudget({ policy, store })]
    const { id } = here.reserve({ team: 'é' }, 600)
    expect(there.settle(id, 100)).toMatchObject({ status: 'settled', charged: 100 })
    expect(here.settle(id, 100)).toMatchObject({ status: 'repeated', charged: 100 })
  })

  it('is settled by its own id although thousands were made after it', () => {
    const { budget } = world({ ...tokens, limit: '1000000/min' })
    const { id } = budget.reserve({ team: 'a' }, 6)
    for (let i = 0; i < 9000; i++) budget.reserve({ team: 'b' }, 1)
    expect(budget.settle(id, 5)).toMatchObject({ status: 'settled', charged: 5 })
  })

  it('is not settled by an id that begins like its own and names another key', () => {
    const { budget } = world({ ...tokens, holdShare: 1 })
    const [a, b] = [budget.reserve({ team: 'a' }, 600), budget.reserve({ team: 'b' }, 600)]
    const mixed = a.id.slice(0, a.id.indexOf('.')) + b.id.slice(b.id.indexOf('.'))
    expect(() => budget.settle(mixed, 1)).toThrow(/no such reservation/)
    expect(budget.settle(a.id, 1)).toMatchObject({ status: 'settled' })
  })

  it('is clamped to half of the limit, so that one reservation cannot hold all of it', () => {
    const { budget } = world(tokens)
    expect(budget.reserve({ team: 'a' }, 1_000_000)).toMatchObject({ allowed: true, units: 500 })
  })

  it('comes free at its end, and its settlement is then a plain charge', () => {
    const { budget, clock } = world({
      ...tokens,
      limit: { quota: 10, window: '1day', algorithm: 'fixed-window' },
    })
    const { id } = budget.reserve({ team: 'a' }, 5)
    clock.set(60_000)
    expect(budget.settle(id, 3)).toMatchObject({ status: 'late', charged: 3 })
  })

  it.each<[NonNullable<BudgetRule['limit']>, number]>([
    [{ quota: 1000, window: '1h', algorithm: 'fixed-window' }, 3_600_000],
    [{ quota: 1000, window: 'day', timeZone: 'UTC' }, 86_400_000],
  ])('counts in the next window too if it is held across the edge: %j', (limit, edge) => {
    const { budget, clock } = world({ ...tokens, limit, holdShare: 1 })
    clock.set(edge - 1000)
    const { id } = budget.reserve({ team: 'a' }, 600)
    clock.set(edge + 1000)
    expect(budget.reserve({ team: 'a' }, 401).allowed).toBe(false)
    expect(budget.reserve({ team: 'a' }, 400).allowed).toBe(true)
    expect(budget.settle(id, 500)).toMatchObject({
      status: 'settled',
      charged: 500,
      rules: [{ remaining: 100 }],
    })
  })

  it('lives on when it is extended', () => {
    const { budget, clock } = world(tokens)
    const { id } = budget.reserve({ team: 'a' }, 5)
    clock.set(59_000)
    expect(budget.extend(id)).toMatchObject({ endsAt: 119_000 })
    clock.set(118_999)
    expect(budget.settle(id, 3)).toMatchObject({ status: 'settled' })
  })

  it('is renewed until it is settled where the caller asks for that', () => {
    const { budget, clock, tick } = world({ ...tokens, holdShare: 1 })
    const { id } = budget.reserve({ team: 'a' }, 1000, true)
    for (let now = 20_000; now <= 200_000; now += 20_000) {
      clock.set(now)
      tick()
    }
    expect(budget.reserve({ team: 'a' }, 1).allowed).toBe(false)
    expect(budget.settle(id, 0).status).toBe('settled')
  })

  it('charges nothing when it is cancelled', () => {
    const { budget } = world(tokens)
    const { id } = budget.reserve({ team: 'a' }, 500)
    expect(budget.cancel(id)).toMatchObject({ charged: 0, rules: [{ remaining: 1000 }] })
  })

  it('charges a debt only where the rule allows it, up to its bound', () => {
    const strict = world(tokens).budget
    expect(strict.settle(strict.reserve({ team: 'a' }, 10).id, 1500)).toMatchObject({
      charged: 1000,
      uncharged: 500,
      debt: 0,
    })
    const lax = world({ ...tokens, debt: 200 }).budget
    expect(lax.settle(lax.reserve({ team: 'a' }, 10).id, 1500)).toMatchObject({
      charged: 1200,
      uncharged: 300,
      debt: 200,
    })
  })

  it('weighs tokens by kind', () => {
    const { budget } = world({ ...tokens, weights: { input: 1, cached: 0.1, output: 4 } })
    const { id } = budget.reserve({ team: 'a' }, 500)
    expect(budget.settle(id, { input: 100, cached: 25, output: 20 })).toMatchObject({
      charged: 183,
    })
  })

  it('is estimated by the 95th percentile of what its model cost before', () => {
    const { budget, clock } = world({ ...tokens, limit: '100000/min' })
    const reserve = (model: string) => budget.reserve({ team: 'a', model })
    expect(reserve('small').units).toBe(5000)
    for (let cost = 1; cost <= 100; cost++) {
      clock.set(cost * 60_000)
      budget.settle(budget.reserve({ team: 'a', model: 'small' }, 10).id, cost)
    }
    expect(reserve('small').units).toBe(95)
    expect(reserve('large').units).toBe(5000)
  })

  it('charges every other rule its cost of one request, all or none', () => {
    const { budget } = world(tokens, { name: 'requests', by: ['team'], limit: '2/min' })
    const ask = () => budget.reserve({ team: 'a' }, 100)
    const [first, second, third] = [ask(), ask(), ask()]
    expect([first, second, third].map(({ allowed }) => allowed)).toEqual([true, true, false])
    expect(third!.decision.rule).toBe('requests')
    expect(budget.cancel(first!.id).rules).toMatchObject([{ rule: 'tokens', remaining: 900 }])
  })

  it.each(['', 'nonsense', 'a.b', 42])('of the unknown id %j is a clear error', (id) => {
    const { budget } = world(tokens)
    expect(() => budget.settle(id as string, 1)).toThrow(
      expect.objectContaining({ code: 'unknown-reservation' }),
    )
  })

  it('to which no rule applied charges nothing and says so, in any process', () => {
    const { budget } = world(tokens)
    const { budget: other } = world(tokens)
    const { allowed, id, units, decision } = budget.reserve({ user: 'u' }, 600)
    expect({ allowed, units, skipped: decision.skipped }).toEqual({
      allowed: true,
      units: 0,
      skipped: [{ rule: 'tokens', missing: 'team' }],
    })
    for (const one of [budget, other])
      expect(one.settle(id, 600)).toMatchObject({ status: 'no-rule', charged: 0, rules: [] })
  })

  it('of another policy is a clear error', () => {
    const other = createBudget({ policy: { name: 'other', rules: [tokens] } })
    const { id } = other.reserve({ team: 'a' }, 1)
    expect(() => world(tokens).budget.settle(id, 1)).toThrow(/of the policy other/)
    other.close()
  })

  it.each([-1, 1.5, NaN, 2 ** 53])('of %d units is refused as everywhere', (units) => {
    const { budget } = world(tokens)
    const invalid = expect.objectContaining({ code: 'invalid-cost' })
    expect(() => budget.reserve({ team: 'a' }, units)).toThrow(invalid)
    const { id } = budget.reserve({ team: 'a' }, 1)
    expect(() => budget.settle(id, units)).toThrow(invalid)
    expect(() => budget.settle(id, { input: units })).toThrow(invalid)
  })

  it('of kinds of tokens that no rule weighs is refused, and the reservation stays to be settled', () => {
    const { budget } = world(tokens)
    const { id } = budget.reserve({ team: 'a' }, 100)
    const settle = (actual: unknown) => () => budget.settle(id, actual as Usage)
    expect(settle({ prompt_tokens: 900 })).toThrow(
      'actual.prompt_tokens is no kind of tokens; accepted: input, cached, output',
    )
    expect(settle({ input: 1, outptu: 2 })).toThrow(/actual\.outptu is no kind/)
    expect(settle([])).toThrow('actual is []')
    expect(budget.settle(id, { input: 90 })).toMatchObject({ status: 'settled', charged: 90 })
  })
})

describe('a slot', () => {
  const slots: BudgetRule = { name: 'at-once', by: ['user'], concurrency: 2, hold: '30s' }

  it('is taken by enter and freed by leave, once', () => {
    const { budget } = world(slots)
    const [a, b, c] = [1, 2, 3].map(() => budget.enter({ user: 'u' }))
    expect([a, b, c].map((slot) => slot!.allowed)).toEqual([true, true, false])
    expect(c!.decision).toMatchObject({ rule: 'at-once', retryAfter: 30_000 })
    a!.leave()
    a!.leave()
    expect(budget.enter({ user: 'u' }).allowed).toBe(true)
    expect(budget.enter({ user: 'u' }).allowed).toBe(false)
  })

  it('is renewed by one timer while the work goes on', () => {
    const { budget, clock, tick } = world(slots)
    const slot = budget.enter({ user: 'u' })
    budget.enter({ user: 'u' })
    for (let now = 10_000; now <= 120_000; now += 10_000) {
      clock.set(now)
      tick()
    }
    expect(budget.enter({ user: 'u' }).allowed).toBe(false)
    slot.leave()
    expect(budget.enter({ user: 'u' }).allowed).toBe(true)
  })

  it('comes free at its end when it is not renewed', () => {
    const { budget, clock } = world(slots)
    budget.enter({ user: 'u' })
    budget.enter({ user: 'u' })
    clock.set(29_999)
    expect(budget.enter({ user: 'u' }).allowed).toBe(false)
    clock.set(30_000)
    expect(budget.enter({ user: 'u' }).allowed).toBe(true)
  })

  it('is freed by its id, too', () => {
    const { budget } = world(slots)
    const { id } = budget.enter({ user: 'u' })
    budget.enter({ user: 'u' })
    budget.leave(id)
    expect(budget.enter({ user: 'u' }).allowed).toBe(true)
  })

  it('is not renewed any more once it is freed by its id', () => {
    const { budget, clock, tick } = world({ ...slots, concurrency: 1 })
    const { id } = budget.enter({ user: 'u' })
    budget.leave(id)
    tick()
    expect(budget.enter({ user: 'u' }, 1, false).allowed).toBe(true)
    clock.set(30_000)
    tick()
    expect(budget.enter({ user: 'u' }).allowed).toBe(true)
  })

  it('cannot be entered where no rule has slots', () => {
    const { budget } = world(tokens)
    expect(() => budget.enter({ team: 'a' })).toThrow(
      'enter: no rule of the policy llm has concurrency; add concurrency: 20 to a rule, or use reserve',
    )
  })

  it('is not needed by a request to which no rule with slots applies', () => {
    const { budget } = world(slots)
    const slot = budget.enter({ team: 'a' })
    expect(slot).toMatchObject({ allowed: true, decision: { reason: 'no-rule' } })
    expect(budget.extend(slot.id)).toMatchObject({ status: 'no-rule', endsAt: 0, rules: [] })
    budget.leave(slot.id)
    slot.leave()
  })

  it('is taken by a reservation, and freed when it is settled', () => {
    const { budget } = world(slots, { ...tokens, by: ['user'] })
    const [a, b, c] = [1, 2, 3].map(() => budget.reserve({ user: 'u' }, 10))
    expect([a, b, c].map((one) => one!.allowed)).toEqual([true, true, false])
    budget.settle(a!.id, 5)
    expect(budget.reserve({ user: 'u' }, 10).allowed).toBe(true)
  })
})

describe('thresholds of a budget', () => {
  it.each<[NonNullable<BudgetRule['limit']>, number]>([
    [{ quota: 1000, window: '1h', algorithm: 'fixed-window' }, 3_600_000],
    [{ quota: 1000, window: 'day', timeZone: 'UTC' }, 86_400_000],
    [{ quota: 1000, window: '1h' }, 3_600_000],
  ])('are crossed by what is reserved and by what is settled, once: %j', (limit, quietUntil) => {
    const clock = fakeClock()
    const events: unknown[] = []
    const watch = watchThresholds(({ rule, key, threshold, used, quietUntil }) =>
      events.push([rule, key, threshold, used, quietUntil]),
    )
    const budget = createBudget({
      policy: { name: 'llm', rules: [{ ...tokens, limit, debt: 200, thresholds: [50, 80, 100] }] },
      store: memoryStore({ clock }),
      onDecision: watch,
      onSettled: watch.settled,
    })
    const settled = (estimate: number, actual: number): readonly unknown[] => {
      const { id } = budget.reserve({ team: 'a' }, estimate)
      budget.settle(id, actual)
      budget.settle(id, actual)
      return events.splice(0)
    }
    expect(settled(100, 450)).toEqual([])
    // The reservation alone crosses 50 %.
    expect(settled(60, 0)).toEqual([['tokens', 'a', 50, 510, quietUntil]])
    expect(settled(10, 300)).toEqual([])
    expect(settled(10, 60)).toEqual([['tokens', 'a', 80, 810, quietUntil]])
    expect(settled(10, 250)).toEqual([['tokens', 'a', 100, 1060, quietUntil]])
  })
})

describe('createBudget', () => {
  it.each<[object, string]>([
    [{ policy: { name: 'x', rules: [{ name: 'r', by: [], limit: '1/s' }] } }, 'no rule with hold'],
    [{ polcy: 1 }, 'did you mean policy?'],
    [{ policy: { name: 'x', rules: [tokens] }, store: { take() {} } }, 'keeps no holds'],
  ])('says what is wrong with %j', (options, message) => {
    expect(() => createBudget(options as never)).toThrow(message)
  })
})

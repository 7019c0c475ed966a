import { memoryStore } from 'sluice'
import { createBudget, withHolds } from 'sluice/budgets'
import { describe, expect, it } from 'vitest'
import { MetricRegistry } from '../metrics/registry.ts'
import { HeldUnits } from '../metrics/units-out.ts'
import { countedBudget } from './counted-budget.ts'
import type { ServiceBudget } from './limiters.ts'

const policy = {
  name: 'llm',
  rules: [
    { name: 'tokens', by: ['team'], limit: '1000/h', hold: '60s' },
    { name: 'at-once', by: ['team'], concurrency: 2, hold: '30s' },
  ],
} as const
const TEAM = { team: 'a' }

/** Two processes on one store, and what is out by each kind over both. */
function fleet() {
  let now = 1_700_000_000_000
  const clock = (): number => now
  const store = withHolds(memoryStore({ clock }))
  const members = [0, 1].map(() => {
    const held = new HeldUnits(new MetricRegistry(), clock)
    return { held, budget: countedBudget(createBudget({ policy, store }), held) }
  })
  const out = () => ({
    holds: members.reduce((sum, { held }) => sum + held.holds.now, 0),
    slots: members.reduce((sum, { held }) => sum + held.slots.now, 0),
  })
  const [here, there] = members.map(({ budget }) => budget) as [ServiceBudget, ServiceBudget]
  return { here, there, out, pass: (millis: number) => (now += millis) }
}

describe('units out', () => {
  it('fall when another process settles', async () => {
    const { here, there, out } = fleet()
    const { id } = await here.reserve(TEAM, 400)
    expect(out().holds).toBe(400)
    await there.settle(id, 150)
    expect(out().holds).toBe(0)
    await there.settle(id, 150)
    expect(out().holds).toBe(0)
  })

  it('come back by themselves at the end', async () => {
    const { here, out, pass } = fleet()
    await here.reserve(TEAM, 400)
    pass(61_000)
    expect(out().holds).toBe(0)
  })

  it('stay out for longer when they are extended', async () => {
    const { here, out, pass } = fleet()
    const { id } = await here.reserve(TEAM, 400)
    pass(20_000)
    await here.extend(id)
    pass(20_000)
    expect(out().holds).toBe(400)
    await here.cancel(id)
    expect(out().holds).toBe(0)
  })

  it('count a slot until it is left, once', async () => {
    const { here, there, out } = fleet()
    const { id } = await here.enter(TEAM, 1, false)
    await here.enter(TEAM, 1, false)
    expect(out().slots).toBe(2)
    await there.leave(id)
    await there.leave(id)
    expect(out().slots).toBe(1)
  })

  it('do not count what was refused', async () => {
    const { here, out } = fleet()
    for (let i = 0; i < 5; i++) await here.enter(TEAM, 1, false)
    expect(out().slots).toBe(2)
  })
})

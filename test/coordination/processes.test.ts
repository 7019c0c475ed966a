import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compileProgram, type Program } from '../compile.ts'
import { measure } from './measure.ts'
import type { Plan } from './orders.ts'
import { crash, stopPastTheEnd } from './scenarios.ts'

const PLAN: Plan = {
  mode: 'leased',
  bucket: { burst: 200, rate: 0.5 },
  life: 400,
  interval: 100,
  demand: 0.4,
  isBursty: false,
  keys: 1,
}

describe('leases of several processes on one server', () => {
  let program: Program
  beforeAll(async () => {
    program = await compileProgram('test/coordination/member.ts')
  })
  afterAll(() => program.remove())

  it.each([
    { what: 'one of them is killed', happen: crash },
    { what: 'one of them is stopped until its lease has ended', happen: stopPastTheEnd },
  ])('admit no more than one bucket in any span of time when $what', async ({ happen }) => {
    const { used, bound, leased } = await measure(program, { happen }, PLAN, {
      members: 3,
      length: 1500,
    })
    expect(leased).toBeGreaterThan(0)
    expect(used).toBeLessThanOrEqual(bound)
  })

  it('stay within the formula of synced counts when one of them is stopped for a while', async () => {
    const plan: Plan = { ...PLAN, mode: 'synced' }
    const size = { members: 3, length: 1500 }
    const { used, bound, leased } = await measure(program, { happen: stopPastTheEnd }, plan, size)
    expect(leased).toBeGreaterThan(0)
    expect(used).toBeLessThanOrEqual(bound)
  })
})

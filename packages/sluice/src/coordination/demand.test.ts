import { describe, expect, it } from 'vitest'
import { Demand } from './demand.ts'

describe('demand', () => {
  it('is nothing after one request', () => {
    const demand = new Demand(500, 0)
    demand.observe(1, 0)
    expect(demand.perHorizon(0)).toBe(0)
  })

  it('is the rate of the first requests, and no more than they say within 20 ms', () => {
    const demand = new Demand(500, 0)
    for (let i = 0; i <= 100; i++) demand.observe(1, i)
    expect(demand.perHorizon(100)).toBe(500)
  })

  it('follows a rate that falls to nothing', () => {
    const demand = new Demand(500, 0)
    for (let i = 0; i < 1000; i += 10) demand.observe(1, i)
    expect(demand.perHorizon(1000)).toBeCloseTo(50, -1)
    demand.observe(0, 2500)
    expect(demand.perHorizon(2500)).toBe(0)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { retryBudget } from './retry-budget.ts'

const spend = (budget: { retry(): boolean }): number => {
  let count = 0
  while (count < 1000 && budget.retry()) count += 1
  return count
}

describe('retryBudget', () => {
  it('starts full and earns by requests and by time', () => {
    const clock = fakeClock()
    const budget = retryBudget({ clock })
    expect(spend(budget)).toBe(10)
    for (let i = 0; i < 9; i++) budget.request()
    expect(spend(budget)).toBe(0)
    budget.request()
    expect(spend(budget)).toBe(1)
    clock.advance(2999)
    expect(spend(budget)).toBe(2)
  })

  it('saves no more than its burst', () => {
    const clock = fakeClock()
    const budget = retryBudget({ clock, burst: 3 })
    for (let i = 0; i < 1000; i++) budget.request()
    clock.advance(1_000_000)
    expect(spend(budget)).toBe(3)
  })

  it('earns nothing from a clock that goes back', () => {
    const clock = fakeClock(1_000_000)
    const budget = retryBudget({ clock, share: 0 })
    spend(budget)
    clock.set(0)
    expect(budget.retry()).toBe(false)
  })

  it('never allows more than burst + share · requests + perSecond · seconds', () => {
    const step = fc.record({ requests: fc.nat(30), retries: fc.nat(30), wait: fc.nat(5000) })
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 30 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(20),
        fc.nat(5),
        (steps, share, burst, perSecond) => {
          const clock = fakeClock()
          const budget = retryBudget({ clock, share, burst, perSecond })
          let requests = 0
          let retries = 0
          for (const step of steps) {
            for (let i = 0; i < step.requests; i++) budget.request()
            requests += step.requests
            for (let i = 0; i < step.retries; i++) if (budget.retry()) retries += 1
            const most = burst + share * requests + (perSecond * clock()) / 1000
            expect(retries).toBeLessThanOrEqual(most + 1e-6)
            clock.advance(step.wait)
          }
        },
      ),
    )
  })

  it.each([
    [{ share: 1.5 }, 'share is 1.5; accepted: a number, from 0 to 1'],
    [{ perSecond: -1 }, 'perSecond is -1'],
    [{ burst: Number.NaN }, 'burst is NaN'],
  ])('throws for %j', (options, message) => {
    expect(() => retryBudget(options)).toThrow(message)
  })
})

import { describe, expect, it } from 'vitest'
import { LeaseClock } from './lease-clock.ts'

describe('the clock of leases', () => {
  const clocks = (): { clock: LeaseClock; pass: (wall: number, monotonic?: number) => number } => {
    let [wall, monotonic] = [1_800_000_000_000, 500]
    const clock = new LeaseClock(
      () => wall,
      () => monotonic,
    )
    return {
      clock,
      pass(byWall, byMonotonic = byWall) {
        wall += byWall
        monotonic += byMonotonic
        return clock.now()
      },
    }
  }

  it.each<[what: string, wall: number, monotonic: number, passed: number]>([
    ['both clocks', 1000, 1000, 1000],
    ['the monotonic clock when the wall clock is set back', -5000, 1000, 1000],
    ['the wall clock when the monotonic clock stood still', 1000, 0, 1000],
    ['the wall clock when it is set ahead', 9000, 1000, 9000],
  ])('follows %s', (_, wall, monotonic, passed) => {
    const { clock, pass } = clocks()
    const start = clock.now()
    expect(pass(wall, monotonic) - start).toBe(passed)
  })

  it('does not add up the rounding of the wall clock', () => {
    const { clock, pass } = clocks()
    const start = clock.now()
    for (let i = 0; i < 1000; i++) pass(i % 2 === 0 ? 2 : 0, 1)
    expect(clock.now() - start).toBeLessThanOrEqual(1000)
  })

  it('never goes back', () => {
    const { clock, pass } = clocks()
    const start = clock.now()
    expect(pass(-20_000, 0)).toBe(start)
    expect(pass(10, 10)).toBe(start + 10)
  })
})

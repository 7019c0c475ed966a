import { describe, expect, it } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { reconnectDelay, reconnectDelays } from './reconnect-delay.ts'

/** Delays of one client that is alone, far apart in time. */
function delays(attempt: number): number[] {
  const clock = fakeClock(1_800_000_000_000)
  const delay = reconnectDelays(clock, Math.random)
  return Array.from({ length: 2000 }, () => {
    clock.advance(2000)
    return delay(attempt)
  })
}

/** The most instants within any span of that many ms. */
function mostWithin(instants: readonly number[], span: number): number {
  const counts = instants.map((start) => instants.filter((at) => at >= start && at < start + span))
  return Math.max(...counts.map((within) => within.length))
}

/** When a process of its own, whose connection is lost at 0, makes its first attempt from that instant on. */
function attemptAfter(instant: number): number {
  const clock = fakeClock(0)
  const delay = reconnectDelays(clock, Math.random)
  for (let attempt = 1; clock() < instant; attempt++) clock.advance(delay(attempt))
  return clock()
}

describe('reconnectDelay', () => {
  it.each([
    [0, 0, 50],
    [1, 0, 50],
    [2, 0, 880],
  ])('attempt %i comes after %i to %i ms, anywhere in between', (attempt, least, most) => {
    const all = delays(attempt)
    const [shortest, longest] = [Math.min(...all), Math.max(...all)]
    expect(shortest).toBeGreaterThanOrEqual(least)
    expect(longest).toBeLessThanOrEqual(most)
    expect(longest - shortest).toBeGreaterThan((most - least) * 0.9)
  })

  it.each([3, 4, 1000])('attempt %i comes a cycle after the one before', (attempt) => {
    expect(new Set(delays(attempt))).toEqual(new Set([880]))
  })

  it('spreads fifty processes that know nothing of each other nearly evenly', () => {
    const peaks = Array.from({ length: 200 }, () => {
      const attempts = Array.from({ length: 50 }, () => attemptAfter(3000))
      return mostWithin(attempts, 100)
    })
    const average = peaks.reduce((sum, peak) => sum + peak, 0) / peaks.length
    // A delay of 300 to 750 ms by chance, without a phase, gave 14.7.
    expect(average).toBeLessThan(11.5)
  })

  it('keeps fifty clients of one process apart, at the first attempt and for as long as it takes', () => {
    const clock = fakeClock(1_800_000_000_000)
    const delay = reconnectDelays(clock, Math.random)
    const start = clock()
    const clients = Array.from({ length: 50 }, () => ({ at: start + delay(1), attempt: 1 }))
    const attempts: number[] = []
    for (let i = 0; i < 1000; i++) {
      const next = clients.reduce((a, b) => (b.at < a.at ? b : a))
      attempts.push(next.at)
      clock.set(next.at)
      next.attempt += 1
      const after = delay(next.attempt)
      expect(after).toBeLessThanOrEqual(940)
      next.at += after
    }
    expect(mostWithin(attempts, 100)).toBeLessThanOrEqual(10)
  })

  it('spreads clients by chance alone when there are too many', () => {
    const delay = reconnectDelays(fakeClock(1_800_000_000_000), Math.random)
    const all = Array.from({ length: 500 }, () => delay(2))
    expect(Math.max(...all)).toBeLessThanOrEqual(940)
    expect(mostWithin(all, 100)).toBeLessThan(150)
  })

  it('is made for this process, by its clock', () => {
    expect(reconnectDelay(1)).toBeLessThanOrEqual(940)
  })
})

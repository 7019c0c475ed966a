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

describe('reconnectDelay', () => {
  it.each([
    [0, 0, 50],
    [1, 0, 50],
    [2, 300, 750],
    [3, 300, 750],
    [1000, 300, 750],
  ])('attempt %i comes after %i to %i ms, anywhere in between', (attempt, least, most) => {
    const all = delays(attempt)
    const [shortest, longest] = [Math.min(...all), Math.max(...all)]
    expect(shortest).toBeGreaterThanOrEqual(least)
    expect(longest).toBeLessThanOrEqual(most)
    expect(longest - shortest).toBeGreaterThan((most - least) * 0.9)
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
      expect(after).toBeLessThanOrEqual(900)
      next.at += after
    }
    expect(mostWithin(attempts, 100)).toBeLessThanOrEqual(10)
  })

  it('goes on by chance alone when there are more clients than room', () => {
    const delay = reconnectDelays(fakeClock(1_800_000_000_000), Math.random)
    const all = Array.from({ length: 500 }, () => delay(2))
    expect(Math.max(...all)).toBeLessThanOrEqual(900)
    expect(mostWithin(all, 100)).toBeLessThan(150)
  })

  it('is ready for use, by the clock of this process', () => {
    expect(reconnectDelay(1)).toBeLessThanOrEqual(900)
  })
})

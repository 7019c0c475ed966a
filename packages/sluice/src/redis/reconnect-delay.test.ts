import { describe, expect, it } from 'vitest'
import { reconnectDelay } from './reconnect-delay.ts'

/** The shortest and the longest of many. */
const range = (attempt: number): readonly [number, number] => {
  const all = Array.from({ length: 2000 }, () => reconnectDelay(attempt))
  return [Math.min(...all), Math.max(...all)]
}

describe('reconnectDelay', () => {
  it.each([
    [0, 0, 50],
    [1, 0, 50],
    [2, 300, 750],
    [3, 300, 750],
    [1000, 300, 750],
  ])('attempt %i comes after %i to %i ms, anywhere in between', (attempt, least, most) => {
    const [shortest, longest] = range(attempt)
    expect(shortest).toBeGreaterThanOrEqual(least)
    expect(longest).toBeLessThanOrEqual(most)
    expect(longest - shortest).toBeGreaterThan((most - least) * 0.9)
  })
})

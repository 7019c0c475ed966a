import { expect, it } from 'vitest'
import { Timeline } from './timeline.ts'

it.each([1, 399, 400, 10_000, 5_000_000, 100_000_000])(
  'a timeline of %i s has few steps, loses nothing and begins at a round time',
  (seconds) => {
    const timeline = new Timeline(2)
    const start = Date.UTC(2026, 4, 17, 8, 5, 3)
    for (let i = 0; i < 100; i++) {
      timeline.add(start + Math.floor((seconds * 1000 * i) / 99), 0)
      if (i % 2 === 0) timeline.add(start + Math.floor((seconds * 1000 * i) / 99), 1)
    }
    const sums = [0, 1].map((series) => timeline.of(series).reduce((sum, one) => sum + one, 0))
    expect(sums).toEqual([100, 50])
    expect(timeline.of(0).length).toBeLessThanOrEqual(400)
    expect(timeline.start % timeline.width).toBe(0)
    expect(timeline.of(0)[0]).toBeGreaterThan(0)
    expect(timeline.of(0).at(-1)).toBeGreaterThan(0)
  },
)

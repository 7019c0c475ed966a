import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Peaks } from './peaks.ts'

describe('a peak', () => {
  it('is the most requests within any window', () => {
    const log = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 3 })),
      {
        maxLength: 300,
      },
    )
    fc.assert(
      fc.property(log, (requests) => {
        const sorted = requests.toSorted(([a], [b]) => a - b)
        const peaks = new Peaks(1000)
        for (const [at, client] of sorted) peaks.add(at, client)
        for (const client of [0, 1, 2, 3]) {
          const times = sorted.filter(([, one]) => one === client).map(([at]) => at)
          const counts = times.map(
            (end) => times.filter((at) => at <= end && at > end - 1000).length,
          )
          // Requests of one instant are added one by one; the last of them sees all.
          expect(peaks.of(client)).toBe(Math.max(0, ...counts))
        }
      }),
    )
  })

  it('is a lower bound, and says so, when a window holds too many requests', () => {
    const peaks = new Peaks(1000, 2000)
    for (let i = 0; i < 3000; i++) peaks.add(5, 0)
    expect([peaks.of(0), peaks.isCut]).toEqual([2000, true])
  })
})

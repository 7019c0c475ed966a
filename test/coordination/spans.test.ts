import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../bench/lib/random.mjs'
import type { Recorded } from './record.ts'
import { admittedByOne, worstSpan } from './spans.ts'

const at = (earliest: number, latest = earliest, key = 0): Recorded => ({
  key,
  earliest,
  latest,
  isLeased: false,
  isRefused: false,
})

/** By definition: every pair of a beginning and an end. */
function byDefinition(rate: number, record: readonly Recorded[]): number {
  let worst = 0
  for (const { earliest: from } of record) {
    for (const { latest: to } of record) {
      if (to < from) continue
      const inside = record.filter((one) => one.earliest >= from && one.latest <= to)
      worst = Math.max(worst, inside.length - rate * (to - from))
    }
  }
  return worst
}

describe('the reader of a merged record', () => {
  it('says what one bucket admits of the same requests', () => {
    const sent = [at(0), at(0), at(0), at(9), at(10), at(10, 10, 1)]
    expect(admittedByOne({ burst: 2, rate: 0.1 }, sent)).toBe(4)
  })

  it('finds a burst, and what came too soon after it', () => {
    expect(worstSpan(0.1, [at(0), at(0), at(0), at(10), at(10)])).toEqual({
      units: 4,
      from: 0,
      to: 10,
    })
  })

  it('counts each key by itself', () => {
    expect(worstSpan(1, [at(5, 5, 1), at(5, 5, 2), at(5, 5, 2)]).units).toBe(2)
  })

  it('counts a request only in spans that it lies in for certain', () => {
    expect(worstSpan(1, [at(0, 9), at(9)]).units).toBe(1)
    expect(worstSpan(1, [at(8, 9), at(9)]).units).toBe(1)
    expect(worstSpan(0.5, [at(8, 9), at(9)]).units).toBe(1.5)
  })

  it('finds what a search over all pairs finds', () => {
    const random = seededRandom(7)
    for (let walk = 0; walk < 200; walk++) {
      const record = Array.from({ length: 1 + Math.floor(random() * 24) }, () => {
        const earliest = Math.floor(random() * 40)
        return at(earliest, earliest + Math.floor(random() * random() * 10))
      })
      const rate = random()
      expect(worstSpan(rate, record).units).toBeCloseTo(byDefinition(rate, record), 9)
    }
  })
})

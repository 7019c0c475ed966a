import { describe, expect, it } from 'vitest'
import { limit } from '../limit/limit.ts'
import { LeasedCount } from './leased-count.ts'

const LIFE = 2000
const CHECK = { space: 's', key: 'k', limit: limit('1000/s'), cost: 1 }

/** A count with five leased units, asked for at 0 and granted at 1. */
function leased(): LeasedCount {
  const count = new LeasedCount(CHECK, false, LIFE / 4, 0)
  count.grant('a', 5, LIFE, 1_000_000, 0, 1, 0)
  return count
}

describe('a leased count', () => {
  it('adds units to its lease while that lasts', () => {
    const count = leased()
    count.grant('a', 3, LIFE, 1_001_000, 1000, 1001, 0)
    expect(count.leftAt(1002)).toBe(8)
    expect(count.leftAt(LIFE + 500)).toBe(8)
  })

  it('keeps the new units only if the lease ended before the answer came: the store may have ended it first', () => {
    const count = leased()
    count.spend(2, 100)
    count.grant('a', 3, LIFE, 1_001_999, 1000, LIFE, 0)
    expect(count.leftAt(LIFE)).toBe(3)
    expect(count.report(LIFE)).toMatchObject({ id: 'a', spent: 2 })
  })

  it('tells the earliest time that the store may have', () => {
    const count = leased()
    const lease = count.spend(1, 1.5)!
    expect(LeasedCount.storeTime(lease, 1)).toBe(1_000_000)
    expect(LeasedCount.storeTime(lease, 11.5)).toBe(1_000_010)
  })
})

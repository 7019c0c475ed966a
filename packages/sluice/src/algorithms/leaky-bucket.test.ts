import { describe, expect, it } from 'vitest'
import { limit } from '../limit/limit.ts'
import { Count } from '../../test/count.ts'
import { filledIn, type Row } from '../../test/tables.ts'
import { take } from '../limit/take.ts'

describe('leaky bucket', () => {
  it.each<[string, { quota: number; window: number; burst: number }, Row[]]>([
    [
      'five a second, three at once, by hand',
      { quota: 5, window: 1000, burst: 3 },
      [
        [0, 1, 'yes', 2, 0, 200, 200, 0],
        [0, 1, 'yes', 1, 0, 400, 200, 200],
        [0, 1, 'yes', 0, 0, 600, 200, 400],
        [0, 1, 'no', 0, 200, 600, 200, 0],
        [150, 1, 'no', 0, 50, 450, 50, 0],
        [200, 1, 'yes', 0, 0, 600, 200, 400],
      ],
    ],
    [
      'three a second: starts at 333.3 and 666.7 ms are rounded up, never down',
      { quota: 3, window: 1000, burst: 3 },
      [
        [0, 1, 'yes', 2, 0, 334, 334, 0],
        [0, 1, 'yes', 1, 0, 667, 334, 334],
        [0, 1, 'yes', 0, 0, 1000, 334, 667],
      ],
    ],
    [
      'a burst of one never holds anything',
      { quota: 3, window: 1000, burst: 1 },
      [
        [0, 1, 'yes', 0, 0, 334, 334, 0],
        [333, 1, 'no', 0, 1, 1, 1, 0],
        [334, 1, 'yes', 0, 0, 334, 334, 0],
      ],
    ],
  ])('%s', (_, fields, rows) => {
    expect(filledIn({ algorithm: 'leaky-bucket', ...fields }, rows)).toEqual(rows)
  })

  it('says of a peek how long the request would be held, and nothing of a cost of 0', () => {
    const count = new Count(limit('5/s', { algorithm: 'leaky-bucket' }))
    count.take(2, 0)
    expect([count.peek(1, 0).delay, count.peek(3, 100).delay]).toEqual([400, 300])
    expect([count.peek(0, 0).delay, count.take(0, 0).delay, count.peek(4, 0).delay]).toEqual([
      0, 0, 0,
    ])
  })

  it('waits from the clock, also one that went back', () => {
    const count = new Count(limit('5/s', { algorithm: 'leaky-bucket' }))
    count.take(1, 1000)
    expect(count.take(1, 900).delay).toBe(300)
  })

  it('holds nothing when nothing is in front, also by the time of a state that is ahead', () => {
    const made = limit('5/s', { algorithm: 'leaky-bucket' })
    expect(take(made, { at: 1000, used: 0, before: 0 }, 1, 900).delay).toBe(0)
  })
})

import { describe, expect, it } from 'vitest'
import { limit } from '../limit/limit.ts'
import { Count } from '../../test/count.ts'
import { filledIn, type Row } from '../../test/tables.ts'

describe('sliding window counter', () => {
  it.each<[string, { quota: number; window: number }, Row[]]>([
    [
      'sixty a minute, by hand',
      { quota: 60, window: 60_000 },
      [
        // 42 taken; all of them count until the end of the next window.
        [1000, 42, 'yes', 18, 0, 119_000, 60_429, 0],
        // 42 * 59/60 = 41.3 and 18.
        [61_000, 18, 'yes', 0, 0, 119_000, 429, 0],
        // 42 * 45/60 = 31.5 and 18: 10.5 are free. For 11, one half must go: 714.3 ms.
        [75_000, 11, 'no', 10, 715, 105_000, 715, 0],
        [75_714, 11, 'no', 10, 1, 104_286, 1, 0],
        [75_715, 11, 'yes', 0, 0, 104_285, 1428, 0],
      ],
    ],
    [
      'the current window blocks: the edge is not enough',
      { quota: 10, window: 1000 },
      [
        [0, 10, 'yes', 0, 0, 2000, 1100, 0],
        [500, 1, 'no', 0, 600, 1500, 600, 0],
        [500, 10, 'no', 0, 1500, 1500, 600, 0],
        [1000, 1, 'no', 0, 100, 1000, 100, 0],
        [1100, 1, 'yes', 0, 0, 1900, 100, 0],
      ],
    ],
  ])('%s', (_, fields, rows) => {
    expect(filledIn({ algorithm: 'sliding-window', ...fields }, rows)).toEqual(rows)
  })

  it('hands back into the current window, the one before, and none that is older', () => {
    const count = new Count(limit('10/s', { algorithm: 'sliding-window' }))
    count.take(6, 500)
    count.take(2, 1000)
    count.refund(1, 1000, 1000)
    expect(count.peek(0, 1000).remaining).toBe(3)
    count.refund(4, 1000, 999)
    expect(count.peek(0, 1000).remaining).toBe(7)
    count.refund(9, 2000, 999)
    expect(count.peek(0, 2000).remaining).toBe(9)
    count.refund(9, 2000, 1000)
    expect(count.state).toBeUndefined()
  })
})

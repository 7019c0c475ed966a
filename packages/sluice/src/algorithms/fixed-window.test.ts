import { describe, expect, it } from 'vitest'
import { limit } from '../limit/limit.ts'
import { Count } from '../../test/count.ts'
import { filledIn, type Row } from '../../test/tables.ts'

describe('fixed window', () => {
  it.each<[string, { quota: number; window: number }, Row[]]>([
    [
      'five in ten seconds, by hand',
      { quota: 5, window: 10_000 },
      [
        [12_000, 3, 'yes', 2, 0, 8000, 8000, 0],
        [15_000, 2, 'yes', 0, 0, 5000, 5000, 0],
        [18_000, 1, 'no', 0, 2000, 2000, 2000, 0],
        [18_000, 6, 'no', 0, 'never', 2000, 2000, 0],
        [19_999, 1, 'no', 0, 1, 1, 1, 0],
        [20_000, 1, 'yes', 4, 0, 10_000, 10_000, 0],
      ],
    ],
    [
      'a window of one millisecond',
      { quota: 2, window: 1 },
      [
        [5, 2, 'yes', 0, 0, 1, 1, 0],
        [5, 1, 'no', 0, 1, 1, 1, 0],
        [6, 1, 'yes', 1, 0, 1, 1, 0],
      ],
    ],
  ])('%s', (_, fields, rows) => {
    expect(filledIn({ algorithm: 'fixed-window', ...fields }, rows)).toEqual(rows)
  })

  it('hands back into the window in which the units were taken, and into no other', () => {
    const count = new Count(limit('5/s', { algorithm: 'fixed-window' }))
    count.take(4, 1900)
    count.take(3, 2000)
    count.refund(4, 2100, 1900)
    expect(count.peek(0, 2100).remaining).toBe(2)
    count.refund(2, 2100, 2000)
    expect(count.peek(0, 2100).remaining).toBe(4)
  })

  it('stands still for a clock in the window before, and moves with one that was set further back', () => {
    const count = new Count(limit('5/s', { algorithm: 'fixed-window' }))
    count.take(5, 9500)
    expect(count.peek(1, 8000)).toMatchObject({ allowed: false, retryAfter: 2000 })
    expect(count.peek(1, 7999)).toMatchObject({ allowed: false, retryAfter: 1 })
  })
})

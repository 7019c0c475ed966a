import { describe, expect, it } from 'vitest'
import { limit } from '../limit/limit.ts'
import { Count } from '../../test/count.ts'
import { filledIn, type Row } from '../../test/tables.ts'
import { algorithmOf } from './table.ts'

describe('token bucket', () => {
  it.each<[string, { quota: number; window: number; burst: number }, Row[]]>([
    [
      'four a second, eight at once, by hand',
      { quota: 4, window: 1000, burst: 8 },
      [
        [0, 6, 'yes', 2, 0, 1500, 250, 0],
        [100, 3, 'no', 2, 150, 1400, 150, 0],
        [249, 3, 'no', 2, 1, 1251, 1, 0],
        [250, 3, 'yes', 0, 0, 2000, 250, 0],
        [300, 8, 'no', 0, 1950, 1950, 200, 0],
        [300, 9, 'no', 0, 'never', 1950, 200, 0],
      ],
    ],
    [
      'seven a minute: a token each 8571.43 ms',
      { quota: 7, window: 60_000, burst: 7 },
      [
        [0, 7, 'yes', 0, 0, 60_000, 8572, 0],
        [8571, 1, 'no', 0, 1, 51_429, 1, 0],
        [8572, 1, 'yes', 0, 0, 60_000, 8571, 0],
        [17_143, 1, 'yes', 0, 0, 60_000, 8572, 0],
      ],
    ],
  ])('%s', (_, fields, rows) => {
    expect(filledIn({ algorithm: 'token-bucket', ...fields }, rows)).toEqual(rows)
  })

  it('hands back what has not come back by itself', () => {
    const count = new Count(limit('4/s', { burst: 8 }))
    count.take(8, 1000)
    count.refund(3, 1500, 1000)
    // Two tokens came back in 500 ms, and one of the three is still out.
    expect(count.peek(0, 1500)).toMatchObject({ remaining: 3, resetAfter: 1250 })
    count.refund(3, 1500, 500)
    expect(count.peek(0, 1500).remaining).toBe(3)
  })

  it('spends beyond what is left up to the brim, never further', () => {
    const made = limit('4/s', { burst: 8 })
    const count = new Count(made)
    count.take(5, 0)
    algorithmOf(made).spend(made, count.state!, 2 ** 53 - 1, 0)
    expect(count.peek(1, 0)).toMatchObject({ remaining: 0, retryAfter: 250, resetAfter: 2000 })
  })
})

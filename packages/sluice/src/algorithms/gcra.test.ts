import { expect, it } from 'vitest'
import { filledIn, type Row } from '../../test/tables.ts'

it('GCRA: two a second, four at once, by hand', () => {
  const rows: Row[] = [
    [0, 4, 'yes', 0, 0, 2000, 500, 0],
    [100, 1, 'no', 0, 400, 1900, 400, 0],
    [500, 1, 'yes', 0, 0, 2000, 500, 0],
    [600, 2, 'no', 0, 900, 1900, 400, 0],
    [600, 5, 'no', 0, 'never', 1900, 400, 0],
    // The arrival time is never behind the clock: idle hours are no burst.
    [3_600_000, 4, 'yes', 0, 0, 2000, 500, 0],
    [3_600_000, 1, 'no', 0, 500, 2000, 500, 0],
  ]
  const fields = { algorithm: 'gcra', quota: 2, window: 1000, burst: 4 } as const
  expect(filledIn(fields, rows)).toEqual(rows)
})

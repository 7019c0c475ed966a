import { describe, expect, it } from 'vitest'
import { limit } from '../limit/limit.ts'
import { Count } from '../../test/count.ts'
import { inMemory } from '../../test/in-memory.ts'
import { Oracle } from '../../test/oracle.ts'
import { filledIn, type Row } from '../../test/tables.ts'
import { algorithmOf } from './table.ts'
import { take } from '../limit/take.ts'

const entriesOf = (state: unknown): number => (state as { entries: number[] }).entries.length / 2

describe('sliding log', () => {
  it.each<[string, { quota: number; window: number }, Row[]]>([
    [
      'three in ten seconds, by hand',
      { quota: 3, window: 10_000 },
      [
        [1000, 1, 'yes', 2, 0, 10_000, 10_000, 0],
        [4000, 1, 'yes', 1, 0, 10_000, 7000, 0],
        [4000, 1, 'yes', 0, 0, 10_000, 7000, 0],
        [6000, 1, 'no', 0, 5000, 8000, 5000, 0],
        [6000, 2, 'no', 0, 8000, 8000, 5000, 0],
        [10_999, 1, 'no', 0, 1, 3001, 1, 0],
        [11_000, 1, 'yes', 0, 0, 10_000, 3000, 0],
        [11_000, 1, 'no', 0, 3000, 10_000, 3000, 0],
      ],
    ],
  ])('%s', (_, fields, rows) => {
    expect(filledIn({ algorithm: 'sliding-log', ...fields }, rows)).toEqual(rows)
  })

  it('forgets what no longer counts, however long it runs', () => {
    const count = new Count(limit('10/s', { algorithm: 'sliding-log' }))
    let most = 0
    for (let now = 0; now < 200_000; now += 50) {
      count.take(1, now)
      most = Math.max(most, entriesOf(count.state))
    }
    expect(most).toBeLessThan(60)
  })

  it('lets go of entries that died all at once, however long it goes on from there', () => {
    const count = new Count(limit('200/s', { algorithm: 'sliding-log' }))
    for (let now = 0; now < 150; now++) count.take(1, now)
    for (let now = 1148; now < 500_000; now += 100) count.take(1, now)
    expect(entriesOf(count.state)).toBeLessThan(60)
  })

  it.each([0, 1, 5])(
    'keeps no more of refused requests that count than its quota of %i',
    (quota) => {
      const made = limit({ algorithm: 'sliding-log', quota, window: 60_000 })
      const state = take(made, undefined, 0, 0).next
      for (let now = 0; now < 5000; now++) algorithmOf(made).spend(made, state, 1, now)
      expect(entriesOf(state)).toBeLessThanOrEqual(2 * quota + 33)
      expect(state.used).toBe(quota)
    },
  )

  it.each([0, 30, 90, 120, 148, 149])(
    'answers as it should when %i of 150 entries die at once',
    (died) => {
      const made = limit('200/s', { algorithm: 'sliding-log' })
      const [count, oracle] = [new Count(made), new Oracle(made)]
      for (let at = 0; at < 150; at++) {
        count.take(1, at)
        oracle.take(1, at)
      }
      // Twice, so that what is left of a log made smaller is made smaller again.
      for (const start of [999 + died, 1400 + died]) {
        for (const [cost, later] of [
          [1, 0],
          [150, 0],
          [200, 0],
          [2, 1],
          [150, 1],
          [60, 9],
          [200, 9],
        ] as const) {
          const verdict = count.take(cost, start + later).toJSON()
          expect(verdict).toEqual(oracle.take(cost, start + later))
        }
      }
    },
  )

  it('drops many entries at once, and part of one, for the newest units', () => {
    const key = inMemory('300/s', { algorithm: 'sliding-log' })
    for (let at = 0; at < 100; at++) key.take(at, 3)
    key.take(100, 250, { countRefused: true })
    // Of the 84th entry two units are left, then come sixteen whole entries and the newest.
    const retries = [1, 2, 3, 5, 6, 50, 51, 300].map((cost) => key.peek(100, cost).retryAfter)
    expect(retries).toEqual([983, 983, 984, 984, 985, 999, 1000, 1000])
    key.take(1083, 1)
    expect(key.peek(1083, 1)).toMatchObject({ remaining: 1, resetAfter: 1000 })
  })

  it('makes room for the newest units by dropping the oldest, part of an entry if need be', () => {
    const made = limit({ algorithm: 'sliding-log', quota: 5, window: 1000 })
    const count = new Count(made)
    count.take(3, 100)
    count.take(2, 200)
    algorithmOf(made).spend(made, count.state!, 2, 300)
    // One unit is left of 100, two of 200, two of 300.
    const retries = [1, 2, 3, 4, 5].map((cost) => count.peek(cost, 300).retryAfter)
    expect(retries).toEqual([800, 900, 900, 1000, 1000])
    algorithmOf(made).spend(made, count.state!, 99, 400)
    expect([1, 5].map((cost) => count.peek(cost, 400).retryAfter)).toEqual([1000, 1000])
  })
})

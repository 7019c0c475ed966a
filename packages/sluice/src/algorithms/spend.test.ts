// Refused costs that count, and units handed back to a count that a larger limit filled.
import { describe, expect, it } from 'vitest'
import { limit, type AlgorithmName } from '../limit/limit.ts'
import { Count } from '../../test/count.ts'
import { algorithmOf } from './table.ts'

describe('a refused cost that counts', () => {
  it.each<[AlgorithmName, left: [at: number, remaining: number][]]>([
    [
      'token-bucket',
      [
        [500, 0],
        [700, 1],
        [1500, 5],
      ],
    ],
    [
      'gcra',
      [
        [500, 0],
        [700, 1],
        [1500, 5],
      ],
    ],
    [
      'leaky-bucket',
      [
        [500, 0],
        [700, 1],
        [1500, 5],
      ],
    ],
    [
      'fixed-window',
      [
        [500, 0],
        [999, 0],
        [1000, 5],
      ],
    ],
    [
      'sliding-window',
      [
        [500, 0],
        [1000, 0],
        [1200, 1],
        [2000, 5],
      ],
    ],
    [
      'sliding-log',
      [
        [500, 0],
        [1000, 1],
        [1500, 5],
      ],
    ],
  ])('fills %s to the brim from the instant at which it came', (algorithm, left) => {
    const made = limit('5/s', { algorithm })
    const count = new Count(made)
    count.take(5, 0)
    algorithmOf(made).take(made, count.state!, 0, 500)
    algorithmOf(made).spend(made, count.state!, 4, 500)
    const rows = left.map(([at]) => [at, count.peek(0, at).remaining])
    expect(rows).toEqual(left)
  })

  it.each(['token-bucket', 'fixed-window', 'sliding-window', 'sliding-log'] as const)(
    'takes as many units as it costs where they are left (%s)',
    (algorithm) => {
      const made = limit('5/s', { algorithm })
      const count = new Count(made)
      count.take(1, 0)
      algorithmOf(made).spend(made, count.state!, 2, 0)
      expect(count.peek(0, 0).remaining).toBe(2)
    },
  )
})

it.each(['token-bucket', 'gcra', 'leaky-bucket'] as const)(
  'handing back never makes a wait longer: %s above its brim, filled under a larger limit',
  (algorithm) => {
    const large = new Count(limit('10/s', { algorithm }))
    large.take(10, 0)
    const count = new Count(limit('2/s', { algorithm }), large.state)
    expect(count.peek(1, 400).retryAfter).toBe(100)
    count.refund(1, 400, 400)
    expect(count.peek(1, 400).retryAfter).toBe(100)
  },
)

it.each(['token-bucket', 'gcra', 'leaky-bucket'] as const)(
  'a clock that goes back after units were handed back finds as many left: %s',
  (algorithm) => {
    const count = new Count(limit('2/s', { algorithm, burst: 4 }))
    count.take(4, 0)
    count.refund(1, 500, 500)
    expect(count.peek(0, 500).remaining).toBe(2)
    expect(count.peek(0, 400).remaining).toBe(2)
  },
)

// Exact division, held against BigInt.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ceilDiv, floorDiv } from './arithmetic.ts'

const LARGEST = 2 ** 53 - 1
const dividends = fc.oneof(
  fc.integer({ min: 0, max: LARGEST }),
  fc.integer({ min: LARGEST - 1000, max: LARGEST }),
  fc.integer({ min: 0, max: 1000 }),
)
const divisors = fc.oneof(
  fc.integer({ min: 1, max: LARGEST }),
  fc.integer({ min: 1, max: 1000 }),
  fc.integer({ min: LARGEST - 1000, max: LARGEST }),
)

const exactCeil = (a: number, b: number): number => Number((BigInt(a) + BigInt(b) - 1n) / BigInt(b))
const exactFloor = (a: number, b: number): number => Number(BigInt(a) / BigInt(b))

describe('ceilDiv and floorDiv', () => {
  it('are exact for all whole numbers', () => {
    fc.assert(
      fc.property(dividends, divisors, (a, b) => {
        expect([ceilDiv(a, b), floorDiv(a, b)]).toEqual([exactCeil(a, b), exactFloor(a, b)])
      }),
      { numRuns: 2000 },
    )
  })

  it('are exact beside a multiple, where a rounded quotient would show', () => {
    fc.assert(
      fc.property(divisors, divisors, (b, n) => {
        const multiple = b * Math.min(n, Math.floor(LARGEST / b))
        for (const a of [multiple - 1, multiple, Math.min(LARGEST, multiple + 1)]) {
          expect([ceilDiv(a, b), floorDiv(a, b)]).toEqual([exactCeil(a, b), exactFloor(a, b)])
        }
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    [0, 7, 0, 0],
    [1, 7, 1, 0],
    [7, 7, 1, 1],
    [8, 7, 2, 1],
    [2 ** 53 - 1, 2, 2 ** 52, 2 ** 52 - 1],
    [2 ** 53 - 2, 2 ** 53 - 1, 1, 0],
  ])('%i over %i is %i rounded up, %i rounded down', (a, b, up, down) => {
    expect([ceilDiv(a, b), floorDiv(a, b)]).toEqual([up, down])
  })

  it('rounds down below zero, as instants before the epoch need', () => {
    expect([floorDiv(-1, 10), floorDiv(-10, 10), floorDiv(-11, 10)]).toEqual([-1, -1, -2])
  })
})

import { describe, expect, it } from 'vitest'
import { Estimates } from './estimates.ts'

describe('estimates', () => {
  it.each([
    [[], undefined],
    [[7], 7],
    [[1, 2], 2],
    [Array.from({ length: 20 }, (_, i) => i + 1), 19],
    [Array.from({ length: 100 }, (_, i) => 100 - i), 95],
  ])('are the 95th percentile of the costs: %j', (costs, expected) => {
    const estimates = new Estimates()
    for (const cost of costs) estimates.note('a', undefined, cost)
    expect(estimates.of('a', undefined)).toBe(expected)
  })

  it('forget all but the last hundred costs', () => {
    const estimates = new Estimates()
    for (let i = 0; i < 100; i++) estimates.note('a', undefined, 9000)
    for (let i = 0; i < 100; i++) estimates.note('a', undefined, 5)
    expect(estimates.of('a', undefined)).toBe(5)
  })

  it('forget the name that was noted least recently when there are more than a thousand', () => {
    const estimates = new Estimates()
    for (let i = 0; i < 1000; i++) estimates.note('a', `model ${i}`, i)
    estimates.note('a', 'model 0', 0)
    estimates.note('a', 'another', 3)
    expect(
      ['model 0', 'model 1', 'model 2', 'another'].map((model) => estimates.of('a', model)),
    ).toEqual([0, undefined, 2, 3])
  })
})

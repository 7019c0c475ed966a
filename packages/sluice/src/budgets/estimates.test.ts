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
    for (const cost of costs) estimates.note('a', cost)
    expect(estimates.of('a')).toBe(expected)
  })

  it('forget all but the last hundred costs', () => {
    const estimates = new Estimates()
    for (let i = 0; i < 100; i++) estimates.note('a', 9000)
    for (let i = 0; i < 100; i++) estimates.note('a', 5)
    expect(estimates.of('a')).toBe(5)
  })

  it('forget the name that was noted least recently when there are more than a thousand', () => {
    const estimates = new Estimates()
    for (let i = 0; i < 1000; i++) estimates.note(`model ${i}`, i)
    estimates.note('model 0', 0)
    estimates.note('another', 3)
    expect(['model 0', 'model 1', 'model 2', 'another'].map((name) => estimates.of(name))).toEqual([
      0,
      undefined,
      2,
      3,
    ])
  })
})

import { describe, expect, it } from 'vitest'
import { DecisionSampler } from './decide-options.ts'

/** What the sampler takes of some ticks with so many decisions each. */
function taken(ticks: number, decisions: number) {
  const sampler = new DecisionSampler()
  return Array.from({ length: ticks }, (_, tick) => {
    const weights: number[] = []
    for (let i = 0; i < decisions; i++) weights.push(sampler.weight(tick + 1))
    return weights.filter((weight) => weight > 0)
  })
}
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)

describe('a sampler', () => {
  it('takes every decision of a quiet service', () => {
    for (const weights of taken(20, 100)) expect(weights).toEqual(Array(100).fill(1))
  })

  it.each([1000, 10_000, 100_000, 1_000_000])(
    'takes some hundred of %i decisions in a tick, and their weights add up',
    (decisions) => {
      const ticks = taken(5, decisions)
      // The first tick learns how busy the service is.
      for (const weights of ticks.slice(1)) expect(weights.length).toBeLessThan(600)
      const all = sum(ticks.map(sum))
      expect(Math.abs(all / (5 * decisions) - 1)).toBeLessThan(0.1)
    },
  )

  it('takes all again once the service is quiet', () => {
    const sampler = new DecisionSampler()
    for (let i = 0; i < 100_000; i++) sampler.weight(1)
    expect(sampler.weight(2)).toBe(1)
  })
})

import { describe, expect, it } from 'vitest'
import { SAMPLE, DecisionSampler } from './sampler.ts'

describe('a sampler', () => {
  it('takes every decision of a quiet service', () => {
    const sampler = new DecisionSampler()
    for (let tick = 1; tick <= 20; tick++)
      for (let i = 0; i < 250; i++) expect(sampler.weight(tick)).toBe(1)
  })

  it('takes a part of a busy one, and its weights add up', () => {
    const sampler = new DecisionSampler()
    let taken = 0
    let sum = 0
    for (let i = 0; i < 1_000_000; i++) {
      const weight = sampler.weight(1)
      if (weight > 0) taken += 1
      sum += weight
    }
    expect(taken).toBeLessThan(1_100_000 / SAMPLE)
    expect(Math.abs(sum / 1_000_000 - 1)).toBeLessThan(0.05)
  })
})

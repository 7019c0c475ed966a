import { describe, expect, it } from 'vitest'
import { ALGORITHMS, limit } from '../limit/limit.ts'
import { algorithmOf } from './index.ts'
import { take } from './take.ts'

describe('algorithmOf', () => {
  it.each(ALGORITHMS)('finds %s by its name', (algorithm) => {
    expect(algorithmOf(limit('1/s', { algorithm })).name).toBe(algorithm)
  })

  it.each([
    ['token-bucket', 2],
    ['gcra', 2],
    ['leaky-bucket', 2],
    ['fixed-window', 2],
    ['sliding-window', 3],
    ['sliding-log', 0],
  ] as const)(
    '%s: %i numbers make a state, so a store may keep those alone',
    (algorithm, words) => {
      const made = limit('5/s', { algorithm })
      expect(algorithmOf(made).words).toBe(words)
      let state = take(made, undefined, 2, 1900).next
      state = take(made, state, 1, 2100).next
      const kept = [state.at, state.used, state.before].slice(0, words || 3)
      expect(words === 2 ? state.before : 0).toBe(0)
      expect(kept.every(Number.isSafeInteger)).toBe(true)
    },
  )
})

describe('take', () => {
  it.each(ALGORITHMS)('%s: a cost of 0 is allowed, however much was lowered', (algorithm) => {
    const { next } = take(limit('10/s', { algorithm }), undefined, 10, 5000)
    const lowered = limit('4/s', { algorithm })
    expect(take(lowered, next, 0, 5000)).toMatchObject({ allowed: true, remaining: 0, delay: 0 })
  })

  it('is a verdict that JSON shows as plain data', () => {
    const taken = take(limit('5/s', { algorithm: 'fixed-window' }), undefined, 2, 1400)
    expect(JSON.parse(JSON.stringify(taken))).toEqual({
      allowed: true,
      remaining: 3,
      retryAfter: 0,
      resetAfter: 600,
      availableAfter: 600,
      delay: 0,
      at: 1400,
      source: 'memory',
    })
  })

  it.each(ALGORITHMS)(
    '%s: a limit that was lowered reads as full, and one that was raised has room',
    (algorithm) => {
      const { next } = take(limit('10/s', { algorithm }), undefined, 10, 5000)
      const lowered = take(limit('4/s', { algorithm }), next, 1, 5000)
      expect(lowered).toMatchObject({ allowed: false, remaining: 0 })
      expect(lowered.retryAfter).toBeLessThanOrEqual(2000)
      // All ten units have to go: at four a second, for a bucket.
      expect(lowered.resetAfter).toBeLessThanOrEqual(2500)
      expect(take(limit('15/s', { algorithm }), next, 1, 5000)).toMatchObject({
        allowed: true,
        remaining: 4,
      })
      expect(take(limit('0/s', { algorithm }), next, 1, 5000)).toMatchObject({
        allowed: false,
        remaining: 0,
        retryAfter: null,
      })
    },
  )
})

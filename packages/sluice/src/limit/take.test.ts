import { describe, expect, it } from 'vitest'
import { ALGORITHMS, limit } from './limit.ts'
import { take } from './take.ts'

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

import { describe, expect, it } from 'vitest'
import { limit } from '../limit/limit.ts'
import { take } from '../limit/take.ts'
import { algorithmOf, ALGORITHMS } from './table.ts'

describe('the table of algorithms', () => {
  it.each(ALGORITHMS)('%s: the words of the row hold the whole state', (algorithm) => {
    const made = limit('5/s', { algorithm })
    const { words } = algorithmOf(made)
    let state = take(made, undefined, 2, 1900).next
    state = take(made, state, 1, 2100).next
    expect([state.at, state.used, state.before].every(Number.isSafeInteger)).toBe(true)
    if (words === 2) expect(state.before).toBe(0)
    if (words !== 0) expect(Object.keys(state)).toEqual(['at', 'used', 'before'])
  })

  it.each(ALGORITHMS)(
    '%s: a limit may differ in burst and quota only where the row says so',
    (algorithm) => {
      const { hasBurst } = algorithmOf({ algorithm })
      const make = () => limit('5/s', { algorithm, burst: 7 })
      if (hasBurst) expect(make()).toMatchObject({ quota: 5, burst: 7 })
      else expect(make).toThrow(`burst is 7 with ${algorithm}`)
    },
  )

  it.each(ALGORITHMS)('%s: an allowed request is held only where the row says so', (algorithm) => {
    const made = limit('5/s', { algorithm })
    const { next } = take(made, undefined, 2, 1900)
    expect(take(made, next, 1, 1900).delay > 0).toBe(algorithmOf(made).delays)
  })

  it.each(ALGORITHMS)(
    '%s: the quota may be as large as the row says, and no larger',
    (algorithm) => {
      const { maxQuota } = algorithmOf({ algorithm })
      const most = Math.min(maxQuota, 2 ** 52)
      expect(limit({ algorithm, quota: most, window: 1 }).quota).toBe(most)
      expect(() => limit({ algorithm, quota: most + 1, window: 1 })).toThrow('quota is')
    },
  )
})

import { describe, expect, it } from 'vitest'
import { limit, readLimit, type LimitProblem } from '../limit/limit.ts'
import { take } from '../limit/take.ts'
import { algorithmOf, ALGORITHMS } from './table.ts'

describe('the table of algorithms', () => {
  it.each(ALGORITHMS)('%s: the words of the row hold the whole state', (algorithm) => {
    const made = limit('5/s', { algorithm })
    const { words } = algorithmOf(made)
    let state = take(made, undefined, 2, 1900).next
    state = take(made, state, 1, 2100).next
    expect([state.at, state.used, state.before].every(Number.isSafeInteger)).toBe(true)
    expect(words === 2 ? state.before : 0).toBe(0)
    expect(words === 0 || Object.keys(state).length === 3).toBe(true)
  })

  it.each(ALGORITHMS)(
    '%s: a limit may differ in burst and quota only where the row says so',
    (algorithm) => {
      const burst = algorithmOf({ algorithm }).hasBurst ? 7 : undefined
      const problems: LimitProblem[] = []
      const made = readLimit({ algorithm, quota: 5, window: '1s', burst: 7 }, problems)
      expect(made?.burst).toBe(burst)
      expect(problems.length).toBe(burst === undefined ? 1 : 0)
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

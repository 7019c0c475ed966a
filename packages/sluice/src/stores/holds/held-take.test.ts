import { describe, expect, it } from 'vitest'
import { limit } from '../../limit/limit.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { memoryStore } from '../memory/memory-store.ts'
import type { Check } from '../store.ts'
import { withHolds } from './with-holds.ts'

describe('two checks on one count with holds', () => {
  const first: Check = {
    space: 's',
    key: 'k',
    limit: limit('10/min', { algorithm: 'fixed-window' }),
    cost: 9,
    holds: true,
  }
  const counting = { ...first, cost: 2, countRefused: true }

  it('are refused for what only both together exceed, although one counts refusals', () => {
    const store = withHolds(memoryStore({ clock: fakeClock(0) }))
    expect(store.take([first, counting]).map(({ allowed }) => allowed)).toEqual([true, false])
    expect(store.peek([first])[0]!.remaining).toBe(8)
  })

  it('are refused by the second with a hold, which counts its refusal as spent', () => {
    const store = withHolds(memoryStore({ clock: fakeClock(0) }))
    const hold = { id: 'h', life: 1000, onEnd: 'free' } as const
    const verdicts = store.take([
      { ...first, hold },
      { ...counting, hold },
    ])
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, false])
    expect(store.peek([first])[0]!.remaining).toBe(8)
  })
})

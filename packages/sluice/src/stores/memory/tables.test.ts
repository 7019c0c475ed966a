import { describe, expect, it } from 'vitest'
import { limit } from '../../limit/limit.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { fastCounts } from './fast-counts.ts'
import { memoryStore } from './memory-store.ts'
import { Tables } from './tables.ts'

const START = 1_700_000_000_000
const hourly = limit('1/h')
const room = () => ({ keys: 0, bytes: 0, maxKeys: 10, maxBytes: 4096 })

describe('the tables of a memory store', () => {
  const check = (space: string) => ({ space, key: 'a', limit: hourly, cost: 1 })
  const used = { at: START, used: hourly.window, before: 0 }

  it('go when their last key has expired', () => {
    const tables = new Tables(room())
    tables.save(tables.of(check('old')), check('old'), -1, { ...used }, START, [])
    expect(tables.sweep(START + 1)).toBe(false)
    expect(tables.get('old')).toBeDefined()
    tables.sweep(START + hourly.window)
    expect([tables.get('old'), tables.room.keys]).toEqual([undefined, 0])
  })

  it('stay while a limiter has the short way to them', () => {
    const tables = new Tables(room())
    const table = tables.make('held', hourly)
    fastCounts(table, hourly, () => START)
    tables.sweep(START)
    expect(tables.get('held')).toBe(table)
  })

  it('stay while their overflow count is in use', () => {
    const tables = new Tables(room())
    const table = tables.make('full', hourly)
    table.overflow = { ...used }
    tables.sweep(START)
    expect(tables.get('full')).toBe(table)
    tables.sweep(START + hourly.window)
    expect(tables.get('full')).toBeUndefined()
  })
})

describe('the overflow count', () => {
  it('opens again after a clock was set back by years', () => {
    const clock = fakeClock(START)
    const store = memoryStore({ maxKeys: 1, clock })
    const take = (key: string): boolean =>
      store.take([{ space: 's', key, limit: hourly, cost: 1 }])[0]!.allowed
    expect(['a', 'b', 'c'].map(take)).toEqual([true, true, false])
    clock.set(START - 400 * 24 * 3_600_000)
    expect(take('c')).toBe(false)
    clock.advance(hourly.window)
    expect(take('c')).toBe(true)
  })
})

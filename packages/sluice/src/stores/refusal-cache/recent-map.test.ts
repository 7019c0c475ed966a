import { describe, expect, it } from 'vitest'
import { RecentMap } from './recent-map.ts'

describe('a map of the newest entries', () => {
  it('holds the entries that were set last, at least half of the maximum and never more', () => {
    const recent = new RecentMap<number>(100)
    for (let i = 0; i < 1000; i++) {
      recent.set(`${i}`, i)
      const held = Array.from({ length: i + 1 }, (_, j) => recent.get(`${j}`))
      const newest = held.slice(-50)
      expect(newest).toEqual(
        Array.from({ length: newest.length }, (_, j) => held.length - newest.length + j),
      )
      expect(held.filter((value) => value !== undefined).length).toBeLessThanOrEqual(100)
    }
  })

  it('returns the last value of a name, in both generations', () => {
    const recent = new RecentMap<number>(4)
    recent.set('a', 1)
    recent.set('b', 1)
    recent.set('a', 2)
    expect(recent.get('a')).toBe(2)
    expect(recent.get('b')).toBe(1)
  })

  it('forgets a name in every generation, and everything', () => {
    const recent = new RecentMap<number>(4)
    expect(recent.isEmpty).toBe(true)
    recent.set('a', 1)
    recent.set('b', 1)
    recent.set('a', 2)
    expect(recent.isEmpty).toBe(false)
    recent.delete('a')
    expect([recent.get('a'), recent.get('b')]).toEqual([undefined, 1])
    recent.clear()
    expect([recent.get('b'), recent.isEmpty]).toEqual([undefined, true])
  })
})

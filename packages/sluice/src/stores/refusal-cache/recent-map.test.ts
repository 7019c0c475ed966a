import { describe, expect, it } from 'vitest'
import { RecentMap } from './recent-map.ts'

const spaceOf = (i: number): string => (i % 3 === 0 ? 'one' : 'two')

describe('a map of the newest entries', () => {
  it('holds the entries that were set last, at least half of the maximum and never more', () => {
    const recent = new RecentMap<number>(100)
    for (let i = 0; i < 1000; i++) {
      recent.set(spaceOf(i), `${i}`, i)
      const held = Array.from({ length: i + 1 }, (_, j) => recent.get(spaceOf(j), `${j}`))
      const newest = held.slice(-50)
      expect(newest).toEqual(
        Array.from({ length: newest.length }, (_, j) => held.length - newest.length + j),
      )
      expect(held.filter((value) => value !== undefined).length).toBeLessThanOrEqual(100)
    }
  })

  it('returns the last value of a name, in both generations', () => {
    const recent = new RecentMap<number>(4)
    recent.set('one', 'a', 1)
    recent.set('one', 'b', 1)
    recent.set('one', 'a', 2)
    expect(recent.get('one', 'a')).toBe(2)
    expect(recent.get('one', 'b')).toBe(1)
  })

  it('keeps the same key of two spaces apart, also when one is asked for before it is there', () => {
    const recent = new RecentMap<number>(8)
    expect(recent.get('one', 'a')).toBe(undefined)
    recent.set('one', 'a', 1)
    recent.set('two', 'a', 2)
    expect([recent.get('one', 'a'), recent.get('two', 'a')]).toEqual([1, 2])
    recent.delete('two', 'a')
    expect([recent.get('one', 'a'), recent.get('two', 'a')]).toEqual([1, undefined])
  })

  it('forgets a name in every generation, and everything', () => {
    const recent = new RecentMap<number>(4)
    expect(recent.isEmpty).toBe(true)
    recent.set('one', 'a', 1)
    recent.set('one', 'b', 1)
    recent.set('one', 'a', 2)
    expect(recent.isEmpty).toBe(false)
    recent.delete('one', 'a')
    expect([recent.get('one', 'a'), recent.get('one', 'b')]).toEqual([undefined, 1])
    recent.clear()
    expect([recent.get('one', 'b'), recent.isEmpty]).toEqual([undefined, true])
  })
})

import { describe, expect, it } from 'vitest'
import { SeenKeys } from './seen-keys.ts'

describe('seen keys', () => {
  it('know a key that was asked for within the time, and no longer', () => {
    const keys = new SeenKeys(1000)
    expect(keys.note('ada', 0)).toBe(undefined)
    expect(keys.note('ada', 999)).toBe(0)
    expect(keys.note('bob', 999)).toBe(undefined)
    expect(keys.note('ada', 1999)).toBe(undefined)
  })

  it('tell apart keys that differ anywhere near their ends, and the empty key', () => {
    const keys = new SeenKeys(1000)
    const long = 'x'.repeat(100)
    for (const key of ['', 'a', 'b', `${long}a`, `${long}b`, `a${long}`, `b${long}`, long])
      expect(keys.note(key, 0)).toBe(undefined)
  })

  it('confuse few of many', () => {
    const keys = new SeenKeys(1000)
    let known = 0
    for (let i = 0; i < 20_000; i++) if (keys.note(`user ${i}`, i / 100) !== undefined) known += 1
    expect(known).toBe(0)
    let kept = 0
    for (let i = 0; i < 20_000; i++) if (keys.note(`user ${i}`, 300) !== undefined) kept += 1
    expect(kept).toBeGreaterThan(19_500)
  })
})

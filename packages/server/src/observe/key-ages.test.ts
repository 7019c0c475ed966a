import { describe, expect, it } from 'vitest'
import { hash32 } from './keys.ts'
import { KeyAges } from './key-ages.ts'

describe('the age of a key', () => {
  it('is not known at first, then the time since the last request', () => {
    const ages = new KeyAges()
    const hash = hash32('ann')
    expect(ages.note(hash, 1000)).toBe(-1)
    expect(ages.note(hash, 1250)).toBe(250)
    expect(ages.note(hash, 1200)).toBe(0)
  })

  it('is known of some keys when there are far too many', () => {
    const ages = new KeyAges()
    const known: number[] = []
    for (let round = 1; round <= 20; round++)
      for (let i = 0; i < 20_000; i++) {
        const hash = hash32(`key ${i}`)
        const age = (hash & ages.mask) === 0 ? ages.note(hash, round * 1000) : -1
        if (age >= 0) known.push(age)
      }
    expect(known.length).toBeGreaterThan(1000)
    expect(known.every((age) => age % 1000 === 0)).toBe(true)
    // A key that lost its slot for a while is not taken for an old one.
    expect(known.filter((age) => age === 1000).length / known.length).toBeGreaterThan(0.9)
  })
})

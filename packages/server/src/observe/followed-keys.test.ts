import { describe, expect, it } from 'vitest'
import { hash32 } from './keys.ts'
import { KeyAges, KeysAtZero } from './followed-keys.ts'

const MINUTE = 60_000
const about = (user: string) => () => ({ user })

describe('a key at zero', () => {
  it('is listed once it has been there long enough', () => {
    const zero = new KeysAtZero()
    for (let at = 0; at <= 6 * MINUTE; at += 10_000) zero.note('ann', at, 15_000, about('ann'))
    expect(zero.list(4 * MINUTE, 5 * MINUTE)).toEqual([])
    expect(zero.list(6 * MINUTE, 5 * MINUTE)).toEqual([
      { key: 'ann', about: { user: 'ann' }, since: 0 },
    ])
  })

  it('begins anew when it had units in between', () => {
    const zero = new KeysAtZero()
    zero.note('ann', 0, MINUTE, about('ann'))
    expect(zero.has('ann', hash32('ann'))).toBe(true)
    zero.clear('ann')
    expect(zero.has('ann', hash32('ann'))).toBe(false)
    zero.note('ann', MINUTE, MINUTE, about('ann'))
    expect(zero.list(MINUTE, 0)).toMatchObject([{ since: MINUTE }])
  })

  it('begins anew when it came free without a request', () => {
    const zero = new KeysAtZero()
    zero.note('ann', 0, 1000, about('ann'))
    zero.note('ann', 10_000, 1000, about('ann'))
    expect(zero.list(10_000, 0)).toMatchObject([{ since: 10_000 }])
    expect(zero.list(20_000, 0)).toEqual([])
  })
})

describe('many keys at zero', () => {
  it('are bounded; those that came free make room', () => {
    const zero = new KeysAtZero()
    for (let i = 0; i < 1000; i++) zero.note(`k${i}`, 0, 1000, about(`k${i}`))
    expect(zero.list(0, 0)).toHaveLength(64)
    zero.note('later', 10_000, 1000, about('later'))
    expect(zero.list(10_000, 0)).toMatchObject([{ key: 'later' }])
    const followed = ['k0', 'k127', 'later'].map((key) => zero.has(key, hash32(key)))
    expect(followed).toEqual([false, false, true])
  })
})

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

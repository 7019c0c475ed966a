// Keys of every shape in the memory store: kept apart, listed, found again, and bounded in bytes.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ALGORITHMS, limit } from '../../limit/limit.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import type { Check } from '../store.ts'
import { memoryStore, type MemoryStore } from './memory-store.ts'

const START = 1_800_000_000_000
const hourly = limit('1/h')
const check = (key: string): Check => ({ space: 's', key, limit: hourly, cost: 1 })
const takes = (store: MemoryStore, key: string): boolean => store.take([check(key)])[0]!.allowed
const listed = (store: MemoryStore): readonly string[] => store.keysOf('s', 0, 1_000_000).keys

describe('a key of the memory store', () => {
  it.each([
    ['empty', ''],
    ['short', 'a'],
    ['with a zero at its end', 'a\0'],
    ['with only zeros', '\0\0\0\0'],
    ['in Latin-1', 'Zoë Ærø ÿ'],
    ['as long as a record holds', 'x'.repeat(20)],
    ['longer than a record holds', 'x'.repeat(21)],
    ['as long as a block holds', 'x'.repeat(128)],
    ['outside Latin-1', '限流'],
    ['of half a surrogate pair', '\ud83d'],
    ['outside Latin-1, as long as a block holds', '限'.repeat(64)],
  ])('that is %s is found again and listed', (_, key) => {
    const store = memoryStore({ clock: fakeClock(START) })
    expect([takes(store, key), takes(store, key)]).toEqual([true, false])
    expect(listed(store)).toEqual([key])
    store.reset([check(key)])
    expect(store.stats()).toMatchObject({ keys: 0, bytes: 0 })
    store.close()
  })

  it.each([
    ['of more than 128 characters', 'x'.repeat(129)],
    ['of more than 64 characters outside Latin-1', '限'.repeat(65)],
  ])('%s is listed as its hash, which is found too', (_, key) => {
    const store = memoryStore({ clock: fakeClock(START) })
    expect(takes(store, key)).toBe(true)
    const [hash] = listed(store)
    expect(hash).toMatch(/^~[\w-]{43}$/)
    expect([takes(store, key), takes(store, hash!), takes(store, `${key}x`)]).toEqual([
      false,
      false,
      true,
    ])
    store.close()
  })

  it('is never taken for another one', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 140 }),
      fc.string({ unit: fc.constantFrom('a', '\0', 'ÿ', 'Ā'), maxLength: 8 }),
    )
    fc.assert(
      fc.property(fc.uniqueArray(text, { maxLength: 200 }), (keys) => {
        const store = memoryStore({ clock: fakeClock(START) })
        expect(keys.map((key) => takes(store, key))).toEqual(keys.map(() => true))
        expect(keys.map((key) => takes(store, key))).toEqual(keys.map(() => false))
        store.close()
      }),
    )
  })

  it('is new after a reset, however lately it was found, also if another key has its slot', () => {
    const store = memoryStore({ clock: fakeClock(START) })
    const taken = new Set<number>()
    const wrong: number[] = []
    const random = fc.sample(fc.nat({ max: 1399 }), { seed: 7, numRuns: 30_000 })
    for (const number of random) {
      const one = Math.floor(number / 2)
      if (number % 2 === 0) {
        store.reset([check(`k${one}`)])
        taken.delete(one)
      } else {
        if (takes(store, `k${one}`) === taken.has(one)) wrong.push(one)
        taken.add(one)
      }
    }
    expect(wrong).toEqual([])
    expect(store.stats().keys).toBe(taken.size)
    store.close()
  })

  it.each(ALGORITHMS)('survives others that come and go by thousands (%s)', (algorithm) => {
    const store = memoryStore({ clock: fakeClock(START) })
    const one = limit({ algorithm, quota: 1, window: '1h' })
    const take = (key: string): boolean =>
      store.take([{ space: 's', key, limit: one, cost: 1 }])[0]!.allowed
    for (let i = 0; i < 300; i++) take(`stays ${i}`)
    for (let i = 0; i < 12_000; i++) {
      take(`goes ${'.'.repeat(i % 120)}${i}`)
      if (i >= 500) store.reset([check(`goes ${'.'.repeat((i - 500) % 120)}${i - 500}`)])
    }
    expect(store.stats().keys).toBe(800)
    for (let i = 0; i < 300; i++) expect(take(`stays ${i}`)).toBe(false)
    store.close()
  })
})

describe('the bytes of a memory store', () => {
  it.each([
    ['short keys', (i: number) => `k${i}`],
    ['long keys', (i: number) => `${'x'.repeat(120)}${i}`],
    ['keys outside Latin-1', (i: number) => `${'限'.repeat(50)}${i}`],
    ['keys of a kilobyte', (i: number) => `${'x'.repeat(1000)}${i}`],
  ])('stay below maxBytes with %s', (_, keyOf) => {
    const store = memoryStore({ maxBytes: 64 * 1024, clock: fakeClock(START) })
    const twice = limit('2/h')
    for (let i = 0; i < 3000; i++)
      store.take([{ space: 's', key: keyOf(i), limit: twice, cost: 1 }])
    const { keys, bytes, evicted, overflowed } = store.stats()
    expect(bytes).toBeLessThanOrEqual(64 * 1024)
    expect(bytes).toBeGreaterThan(60 * 1024)
    expect(keys + evicted).toBe(3000)
    expect(overflowed).toBe(0)
    store.close()
  })

  it('stay below maxBytes although sliding logs grow', () => {
    const clock = fakeClock(START)
    const store = memoryStore({ maxBytes: 64 * 1024, clock })
    const log = limit({ algorithm: 'sliding-log', quota: 1000, window: '1h' })
    for (let i = 0; i < 20_000; i++) {
      clock.advance(1)
      store.take([{ space: 's', key: `k${i % 100}`, limit: log, cost: 1 }])
    }
    expect(store.stats().bytes).toBeLessThanOrEqual(66 * 1024)
    expect(store.stats().evicted).toBeGreaterThan(0)
    store.close()
  })

  it('are not made by evicting keys over their limit', () => {
    const store = memoryStore({ maxBytes: 1024, clock: fakeClock(START) })
    const spent = Array.from({ length: 15 }, (_, i) => `spent ${i}`)
    for (const key of spent) expect(takes(store, key)).toBe(true)
    for (let i = 0; i < 200; i++) takes(store, `${'y'.repeat(100)}${i}`)
    expect(spent.map((key) => takes(store, key))).toEqual(spent.map(() => false))
    expect(store.stats()).toMatchObject({ evicted: 0 })
    expect(store.stats().overflowed).toBeGreaterThan(0)
    store.close()
  })
})

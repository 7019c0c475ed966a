import { describe, expect, it } from 'vitest'
import { limit, type Limit } from '../../limit/limit.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { testStore } from '../../testing/test-store.ts'
import type { Check } from '../store.ts'
import { memoryStore, type MemoryStore } from './memory-store.ts'

const START = 1_800_000_000_000 - (1_800_000_000_000 % 3_600_000)

describe('the memory store conforms', () => {
  const make = () => {
    const clock = fakeClock(START)
    return { store: memoryStore({ clock }), advance: (millis: number) => clock.advance(millis) }
  }
  it.each(testStore(make))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})

function check(
  key: string,
  rate: '1/min' | '2/min' | '10/min' | '5/10s' = '1/min',
  more: Partial<Check> = {},
): Check {
  return { space: `space ${rate}`, key, limit: limit(rate), cost: 1, ...more }
}

const takes = (store: MemoryStore, one: Check): boolean => store.take([one])[0]!.allowed

const HUNDRED = limit('100/h')
const LOG = limit({ quota: 1000, window: '1h', algorithm: 'sliding-log' })

describe('a full memory store', () => {
  it('never holds more than maxKeys', () => {
    const store = memoryStore({ maxKeys: 10, clock: fakeClock(START) })
    for (let i = 0; i < 1000; i++) takes(store, check(`k${i}`, '2/min'))
    expect(store.stats().keys).toBe(10)
    expect(store.stats().evicted).toBe(990)
    store.close()
  })

  it('keeps keys that are over their limit and frees others', () => {
    const store = memoryStore({ maxKeys: 20, clock: fakeClock(START) })
    for (let i = 0; i < 10; i++) expect(takes(store, check(`spent${i}`, '1/min'))).toBe(true)
    for (let i = 0; i < 5000; i++) takes(store, check(`other${i}`, '2/min'))
    for (let i = 0; i < 10; i++) expect(takes(store, check(`spent${i}`, '1/min'))).toBe(false)
    expect(store.stats()).toMatchObject({ keys: 20, overflowed: 0 })
    store.close()
  })

  it('lets new keys share one count when every key is over its limit, and frees none', () => {
    const store = memoryStore({ maxKeys: 5, clock: fakeClock(START) })
    for (let i = 0; i < 5; i++) takes(store, check(`spent${i}`))
    expect(takes(store, check('new1'))).toBe(true)
    expect(takes(store, check('new2'))).toBe(false)
    expect(takes(store, check('new3'))).toBe(false)
    for (let i = 0; i < 5; i++) expect(takes(store, check(`spent${i}`))).toBe(false)
    expect(store.stats()).toMatchObject({ keys: 5, evicted: 0, overflowed: 1 })
    store.close()
  })

  it('makes room again once time has passed', () => {
    const clock = fakeClock(START)
    const store = memoryStore({ maxKeys: 5, clock })
    for (let i = 0; i < 5; i++) takes(store, check(`spent${i}`))
    takes(store, check('new1'))
    clock.advance(60_000)
    for (let i = 0; i < 5; i++) expect(takes(store, check(`fresh${i}`))).toBe(true)
    expect(store.stats().keys).toBeLessThanOrEqual(5)
    store.close()
  })

  it.each([
    ['plain checks', []],
    ['a shadow check', [check('spent', '1/min', { cost: 0, shadow: true, limit: HUNDRED })]],
  ])('frees no key of a request whose log has grown, of %s', (_, beside) => {
    const clock = fakeClock(START)
    const store = memoryStore({ maxBytes: 1024, clock })
    const plain = (key: string, cost = 1): Check => check(key, '1/min', { limit: HUNDRED, cost })
    const log: Check = { space: 'log', key: 'a', limit: LOG, cost: 1 }
    store.take([plain('b'), plain('spent', 100)])
    let taken = 1
    for (; store.stats().bytes <= 1024; taken++) {
      clock.advance(1)
      store.take([log, plain('b'), ...beside])
    }
    expect(store.peek([plain('b')])[0]!.remaining).toBe(100 - taken)
    expect(store.keysOf('space 1/min', 0, 100).keys).toEqual(['b', 'spent'])
    store.reset([log])
    for (let i = 0; i < 5; i++) expect(takes(store, plain(`new${i}`))).toBe(true)
    expect(store.stats().keys).toBe(7)
    store.close()
  })

  it('frees no key that the same request asks about', () => {
    const store = memoryStore({ maxKeys: 3, clock: fakeClock(START) })
    const [a, b, c] = [check('a', '2/min'), check('b', '10/min'), check('c', '5/10s')] as const
    store.take([a, b, c])
    const other = check('d', '10/min')
    for (let i = 0; i < 4; i++) store.take([b, other])
    expect(store.peek([b])[0]!.remaining).toBe(5)
    expect(store.stats().keys).toBeLessThanOrEqual(3)
    store.close()
  })

  it('does not let an attacker reset a spent key by flooding with others', () => {
    const store = memoryStore({ maxKeys: 5000, clock: fakeClock(START) })
    for (let i = 0; i < 20; i++) takes(store, check('attacker', '10/min'))
    for (let i = 0; i < 25_000; i++) takes(store, check(`other${i}`, '10/min'))
    expect(takes(store, check('attacker', '10/min'))).toBe(false)
    store.close()
  })
})

describe('several checks of one space in one call', () => {
  const of = (key: string, cost: number): Check => ({ ...check(key, '2/min'), cost })

  it('are each charged although one was expired and swept in between', () => {
    const clock = fakeClock(START)
    const store = memoryStore({ clock })
    store.take([check('old')])
    clock.advance(60_000)
    store.take([check('new'), check('old')])
    expect(takes(store, check('old'))).toBe(false)
    store.close()
  })

  it('on one key at the cap share that key', () => {
    const store = memoryStore({ maxKeys: 1, clock: fakeClock(START) })
    store.take([of('a', 1), of('a', 1)])
    expect(takes(store, of('a', 1))).toBe(false)
    expect(store.stats()).toMatchObject({ keys: 1, evicted: 0, overflowed: 0 })
    store.close()
  })

  it.each(['of new keys', 'of known keys'])(
    'of which two are on one key charge it twice, %s',
    (kind) => {
      const store = memoryStore({ clock: fakeClock(START) })
      const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
      const checks = [...keys, 'd'].map((key) => check(key, '10/min'))
      if (kind === 'of known keys') for (const one of checks.slice(0, -1)) takes(store, one)
      const before = kind === 'of known keys' ? 9 : 10
      const left = [
        before - 1,
        before - 1,
        before - 1,
        before - 1,
        before - 1,
        before - 1,
        before - 1,
      ]
      expect(store.take(checks).map(({ remaining }) => remaining)).toEqual([...left, before - 2])
      expect(store.peek([check('d', '10/min')])[0]!.remaining).toBe(before - 2)
      expect(store.peek([check('g', '10/min')])[0]!.remaining).toBe(before - 1)
      store.close()
    },
  )

  it('of known keys are charged all or none, each its own key', () => {
    const store = memoryStore({ clock: fakeClock(START) })
    const keys = ['a', 'b', 'c', 'd', 'e', 'f']
    const checks = keys.map((key) => check(key, '2/min'))
    // The same keys in another space are other counts.
    const others = keys.map((key) => check(key, '10/min'))
    for (const one of [...checks, ...others]) takes(store, one)
    const last = store.take([...checks, ...others])
    expect(last.map(({ remaining }) => remaining)).toEqual([0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8])
    const refused = store.take([...others, ...checks])
    expect(refused.map(({ allowed }) => allowed)).toEqual(
      [...others, ...checks].map((_, i) => i < others.length),
    )
    expect(store.peek(others).map(({ remaining }) => remaining)).toEqual([8, 8, 8, 8, 8, 8])
    store.close()
  })

  it('that all overflow see each other', () => {
    const store = memoryStore({ maxKeys: 1, clock: fakeClock(START) })
    store.take([of('spent', 2)])
    const verdicts = store.take([of('a', 2), of('b', 2)])
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, false])
    store.close()
  })
})

it('frees no key for a look, or for a cost that can never fit', () => {
  const store = memoryStore({ maxKeys: 1, clock: fakeClock(START) })
  store.take([check('a', '2/min')])
  store.take([check('b', '2/min', { cost: 0 })])
  store.take([check('c', '2/min', { cost: 3 })])
  expect(store.peek([check('a', '2/min')])[0]!.remaining).toBe(1)
  store.close()
})

describe('a count that tiers of different rates share', () => {
  const [basic, pro] = [limit('1/10s'), limit('10/10s')]
  const on = (key: string, own: Limit, more: Partial<Check> = {}): Check => ({
    space: 's',
    key,
    limit: own,
    cost: 1,
    ...more,
  })

  it('is kept until the slower limit that refused it would allow', () => {
    const clock = fakeClock(START)
    const store = memoryStore({ clock })
    store.take([on('a', pro)])
    expect(store.take([on('a', basic)])[0]).toMatchObject({ allowed: false, retryAfter: 10_000 })
    clock.advance(9999)
    store.take([on('b', pro)])
    expect(store.peek([on('a', basic)])[0]).toMatchObject({ allowed: false, retryAfter: 1 })
    clock.advance(1)
    expect(store.take([on('a', basic)])[0]!.allowed).toBe(true)
  })

  it('is kept for a slower limit that has not read it yet, by slowestQuota', () => {
    const clock = fakeClock(START)
    const store = memoryStore({ clock })
    store.take([on('a', pro, { slowestQuota: 1 })])
    clock.advance(9999)
    store.take([on('b', pro, { slowestQuota: 1 })])
    expect(store.peek([on('a', basic)])[0]).toMatchObject({ allowed: false, retryAfter: 1 })
  })

  it('is not removed by a refund of the faster limit while the slower one would refuse', () => {
    const clock = fakeClock(START)
    const store = memoryStore({ clock })
    const [brief, slow] = [limit('10/10s', { burst: 1 }), limit('1/10s')]
    store.take([on('a', limit('10/10s', { burst: 4 }), { cost: 4 })])
    store.take([on('a', slow)])
    clock.advance(4000)
    store.refund([on('a', brief, { takenAt: START })])
    expect(store.peek([on('a', slow)])[0]!.allowed).toBe(false)
  })
})

it('keeps a count as long as the strictest limit that it was charged under needs', () => {
  const clock = fakeClock(START)
  const store = memoryStore({ clock })
  const loose: Check = { space: 's', key: 'a', limit: limit('1000/min'), cost: 1 }
  const strict: Check = { ...loose, limit: limit('2/min') }
  store.take([loose])
  clock.advance(60_000)
  expect([takes(store, strict), takes(store, strict)]).toEqual([true, true])
  clock.advance(1000)
  for (let i = 0; i < 100; i++) takes(store, { ...loose, key: `other${i}` })
  expect(takes(store, strict)).toBe(false)
  store.close()
})

describe('expiry', () => {
  it('goes along with new keys, without a timer', () => {
    const clock = fakeClock(START)
    const store = memoryStore({ clock })
    for (let i = 0; i < 1000; i++) takes(store, check(`old${i}`))
    clock.advance(60_000)
    for (let i = 0; i < 400; i++) takes(store, check(`new${i}`))
    expect(store.stats().keys).toBeLessThanOrEqual(420)
    store.close()
  })

  it('forgets a key as soon as everything is given back', () => {
    const store = memoryStore({ clock: fakeClock(START) })
    const one = check('a')
    store.take([one])
    expect(store.stats().keys).toBe(1)
    store.refund([one])
    expect(store.stats().keys).toBe(0)
    store.close()
  })

  it('stores nothing for a refusal or a look', () => {
    const store = memoryStore({ clock: fakeClock(START) })
    store.take([check('a', '1/min', { cost: 0 })])
    store.take([check('b', '1/min', { cost: 2 })])
    store.peek([check('c')])
    expect(store.stats().keys).toBe(0)
    store.close()
  })
})

it('refuses options that make no sense, by name', () => {
  for (const maxKeys of [0, -1, 1.5, Number.NaN]) {
    expect(() => memoryStore({ maxKeys })).toThrow(/maxKeys is .*; accepted: a whole number/)
  }
  expect(() => memoryStore({ maxBytes: 100 })).toThrow('maxBytes is 100; accepted: a whole number')
  expect(() => memoryStore({ clock: 5 as never })).toThrow(/clock is 5; accepted/)
})

describe('the keys of a space', () => {
  const all = (store: MemoryStore, space: string, looks: number): string[] => {
    const seen: string[] = []
    for (let from: number | undefined = 0; from !== undefined;) {
      const { keys, next } = store.keysOf(space, from, looks)
      expect(keys.length).toBeLessThanOrEqual(looks)
      seen.push(...keys)
      from = next
    }
    return seen
  }

  it.each([1, 7, 1000, 100_000])('are all seen once, %i places at a time', (looks) => {
    const store = memoryStore({ clock: fakeClock(START) })
    const keys = Array.from({ length: looks === 1 ? 100 : 40_000 }, (_, i) => `k${i}`)
    for (const key of keys) store.take([check(key), check(key, '2/min')])
    expect(all(store, 'space 1/min', looks).toSorted()).toEqual(keys.toSorted())
    expect(all(store, 'nowhere', looks)).toEqual([])
    store.close()
  })

  it('are seen once although others come and go between the looks', () => {
    const store = memoryStore({ clock: fakeClock(START) })
    for (let i = 0; i < 40_000; i++) store.take([check(`k${i}`)])
    const seen: string[] = []
    for (let from: number | undefined = 0, turn = 0; from !== undefined; turn++) {
      const { keys, next } = store.keysOf('space 1/min', from, 999)
      seen.push(...keys)
      from = next
      for (let i = 0; i < 700; i++) store.reset([check(`k${turn * 700 + i}`)])
      for (let i = 0; i < 300; i++) store.take([check(`new ${turn} ${i}`)])
    }
    expect(new Set(seen).size).toBe(seen.length)
    const left = new Set(all(store, 'space 1/min', 1000).filter((key) => key.startsWith('k')))
    expect([...left].filter((key) => !seen.includes(key))).toEqual([])
    store.close()
  })
})

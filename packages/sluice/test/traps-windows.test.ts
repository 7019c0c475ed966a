// Traps of the three window algorithms, found in published limiters.
import { describe, expect, it } from 'vitest'
import { limit } from '../src/limit/limit.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import { fakeClock } from '../src/testing/fake-clock.ts'
import { Count } from './count.ts'
import { inMemory } from './in-memory.ts'

const NOW = 1_800_000_000_000

describe('fixed window', () => {
  const fixed = { algorithm: 'fixed-window' } as const

  it('trap: every hit extends the window, which then never ends', () => {
    const key = inMemory('5/10s', fixed)
    for (let at = 0; at < 10_000; at += 100) key.take(NOW + at)
    expect(key.take(NOW + 9999)).toMatchObject({ allowed: false, retryAfter: 1 })
    expect(key.take(NOW + 10_000).allowed).toBe(true)
  })

  it('trap: the first cost is not 1 and the window gets no end', () => {
    const key = inMemory('5/10s', fixed)
    expect(key.take(NOW, 5).resetAfter).toBe(10_000)
    expect(key.take(NOW + 10_000, 5).allowed).toBe(true)
  })

  it('trap: the end of a window belongs to it', () => {
    const key = inMemory('1/s', fixed)
    key.take(NOW)
    expect(key.take(NOW + 999).allowed).toBe(false)
    expect(key.take(NOW + 1000).allowed).toBe(true)
  })

  it('trap: windows below a second are never enforced, or last a second', () => {
    const key = inMemory('2/100ms', fixed)
    key.take(NOW, 2)
    expect(key.take(NOW + 99)).toMatchObject({ allowed: false, retryAfter: 1 })
    expect(key.take(NOW + 100).allowed).toBe(true)
  })

  it('trap: refused requests are counted, and remaining becomes negative', () => {
    const key = inMemory('5/10s', fixed)
    key.take(NOW, 3)
    for (let i = 0; i < 100; i++) key.take(NOW + i, 4)
    expect(key.peek(NOW + 100)).toMatchObject({ allowed: true, remaining: 2 })
  })
})

describe('sliding log', () => {
  const log = { algorithm: 'sliding-log' } as const

  it('trap: requests of one millisecond overwrite each other', () => {
    const key = inMemory('3/s', log)
    const answers = Array.from({ length: 5 }, () => key.take(NOW).allowed)
    expect(answers).toEqual([true, true, true, false, false])
  })

  it('trap: refusals are recorded, and a hammering client never recovers', () => {
    const key = inMemory('3/s', log)
    key.take(NOW, 3)
    for (let at = 1; at < 1000; at++) expect(key.take(NOW + at).allowed).toBe(false)
    expect(key.take(NOW + 1000, 3).allowed).toBe(true)
  })

  it('trap: the interval is closed, so an entry lives one millisecond too long or too short', () => {
    const key = inMemory('1/s', log)
    key.take(NOW)
    expect(key.take(NOW + 999).allowed).toBe(false)
    expect(key.take(NOW + 1000).allowed).toBe(true)
  })

  it('trap: entries are counted instead of their weights', () => {
    const key = inMemory('10/s', log)
    key.take(NOW, 6)
    expect(key.take(NOW, 5).allowed).toBe(false)
    expect(key.take(NOW, 4)).toMatchObject({ allowed: true, remaining: 0 })
  })

  it('trap: the wait is that of the oldest entry whatever the cost, or the whole window', () => {
    const key = inMemory('3/s', log)
    for (const at of [0, 100, 300]) key.take(NOW + at)
    const waits = [1, 2, 3].map((cost) => key.take(NOW + 400, cost).retryAfter)
    expect(waits).toEqual([600, 700, 900])
  })

  it('trap: the log grows without bound under attack', () => {
    const size = (count: Count): number =>
      (count.state as unknown as { entries: [] }).entries.length
    const count = new Count(limit('5/h', log))
    count.take(5, NOW)
    const before = size(count)
    for (let i = 0; i < 10_000; i++) count.take(1, NOW + i)
    expect(size(count)).toBe(before)
  })
})

describe('sliding window counter', () => {
  const sliding = { algorithm: 'sliding-window' } as const

  it('trap: only one window is rolled after a long pause, so ancient counts are the previous ones', () => {
    const key = inMemory('10/s', sliding)
    key.take(NOW, 10)
    expect(key.peek(NOW + 2000).remaining).toBe(10)
    expect(key.peek(NOW + 86_400_000).remaining).toBe(10)
  })

  it('trap: the window begins anew at the first request after a pause', () => {
    const key = inMemory('10/s', sliding)
    key.take(NOW + 100, 5)
    key.take(NOW + 1900, 5)
    // Still aligned: the window of the second take ends at 2000, not at 2900.
    expect(key.take(NOW + 2000, 6).allowed).toBe(false)
    expect(key.take(NOW + 2000, 5).allowed).toBe(true)
  })

  it('trap: an estimate below the quota admits a whole unit more', () => {
    const key = inMemory('10/s', sliding)
    key.take(NOW + 500, 10)
    // 10 * 0.95 = 9.5 is below 10, yet there is no room for one.
    expect(key.take(NOW + 1050).allowed).toBe(false)
    expect(key.take(NOW + 1100).allowed).toBe(true)
  })

  it('trap: the estimate is floored or rounded', () => {
    const key = inMemory('10/s', sliding)
    key.take(NOW + 500, 10)
    // 9.01 floored would be 9 and let one through.
    expect(key.take(NOW + 1099).allowed).toBe(false)
    expect(key.peek(NOW + 1099).remaining).toBe(0)
  })

  it('trap: the weight is upside down', () => {
    const key = inMemory('10/s', sliding)
    key.take(NOW, 10)
    const left = [1000, 1250, 1500, 1750, 1999].map((at) => key.peek(NOW + at).remaining)
    expect(left).toEqual([0, 2, 5, 7, 9])
  })

  it('trap: the wait is the end of the window: too long when the previous window blocks', () => {
    const key = inMemory('10/s', sliding)
    key.take(NOW, 10)
    expect(key.take(NOW + 1000).retryAfter).toBe(100)
  })

  it('trap: the wait is the end of the window: too short when the current window blocks', () => {
    const key = inMemory('10/s', sliding)
    key.take(NOW, 10)
    expect(key.take(NOW + 500).retryAfter).toBe(600)
    expect(key.take(NOW + 1000).allowed).toBe(false)
  })

  it('trap: the state lives for one window, and the previous count is gone when it is needed', () => {
    const clock = fakeClock(NOW)
    const store = memoryStore({ clock })
    const made = limit('10/s', sliding)
    const check = (key: string, cost: number) => [{ space: 's', key, limit: made, cost }]
    expect(store.take(check('key', 10))[0]!.resetAfter).toBe(2000)
    clock.set(NOW + 1100)
    // New keys make the store look for expired ones.
    for (let i = 0; i < 1000; i++) store.take(check(`other ${i}`, 1))
    expect(store.peek(check('key', 2))[0]).toMatchObject({ allowed: false, remaining: 1 })
  })
})

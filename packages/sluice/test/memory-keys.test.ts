// Keys of the memory store that outlive a clock that was set, and a table that grew.
import { describe, expect, it } from 'vitest'
import { ALGORITHMS } from '../src/limit/limit.ts'
import { createLimiter } from '../src/limiter/create-limiter.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import { fakeClock } from '../src/testing/fake-clock.ts'

const NOW = 1_800_000_000_000
const DAY = 86_400_000

describe('a clock that is set back by a day', () => {
  it.each(ALGORITHMS)('shuts a spent key for one wait and no longer (%s)', (algorithm) => {
    const clock = fakeClock(NOW)
    const store = memoryStore({ clock })
    const limiter = createLimiter({ store, limit: { algorithm, quota: 3, window: '10s' } })
    for (let i = 0; i < 3; i++) limiter.check('key')
    clock.advance(-DAY)
    const { allowed, retryAfter } = limiter.check('key')
    expect(allowed).toBe(false)
    // Refused again on the way, as by a client that does not wait.
    for (let i = 1; i < retryAfter!; i += 1000) {
      clock.set(NOW - DAY + i)
      expect(limiter.check('key').allowed).toBe(false)
    }
    clock.set(NOW - DAY + retryAfter!)
    expect(limiter.check('key').allowed).toBe(true)
    store.close()
  })
})

it('knows the first keys still when there are so many that the maps are split', () => {
  const store = memoryStore({ clock: fakeClock(NOW) })
  const limiter = createLimiter({ store, limit: '1/h' })
  const first = Array.from({ length: 100 }, (_, i) => `first ${i}`)
  for (const key of first) expect(limiter.check(key).allowed).toBe(true)
  for (let i = 0; i < 40_000; i++) limiter.check(`other ${i}`)
  for (const key of first) {
    expect(limiter.check(key).allowed).toBe(false)
    expect(limiter.check({ key }).allowed).toBe(false)
  }
  expect(store.stats().keys).toBe(40_100)
  limiter.reset(first[0]!)
  expect(store.stats().keys).toBe(40_099)
  expect(limiter.check(first[0]!).allowed).toBe(true)
  store.close()
})

// Traps of time and rounding, found in published limiters.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLimiter } from '../src/limiter/create-limiter.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import { fakeClock } from '../src/testing/fake-clock.ts'
import { inMemory } from './in-memory.ts'
import { ALGORITHMS } from './walks.ts'

/** An instant of our days, at which windows of seconds, minutes and hours begin. */
const NOW = 1_800_000_000_000
const DAY = 86_400_000
const BUCKETS = ['token-bucket', 'gcra', 'leaky-bucket'] as const

describe('waits', () => {
  it.each(BUCKETS)('trap: waits cut to whole seconds, often to 0 (%s)', (algorithm) => {
    const key = inMemory('4/s', { algorithm })
    key.take(NOW, 4)
    expect(key.take(NOW + 100).retryAfter).toBe(150)
  })

  it.each(ALGORITHMS)(
    'trap: a wait rounded down or to the nearest costs a refused retry (%s)',
    (algorithm) => {
      const key = inMemory('7/min', { algorithm })
      key.take(NOW + 1, 7)
      const { retryAfter } = key.take(NOW + 2)
      expect(key.take(NOW + 1 + retryAfter!).allowed).toBe(false)
      expect(key.take(NOW + 2 + retryAfter!).allowed).toBe(true)
    },
  )

  it.each(ALGORITHMS)('trap: a finite wait for a cost above the whole quota (%s)', (algorithm) => {
    const key = inMemory('10/s', { algorithm })
    expect(key.take(NOW, 11)).toMatchObject({ allowed: false, retryAfter: null, remaining: 10 })
    expect(key.take(NOW + 10 * DAY, 11).retryAfter).toBeNull()
  })

  it.each(ALGORITHMS)(
    'trap: a wait of -1, negative, NaN or fractional is passed on (%s)',
    (algorithm) => {
      const key = inMemory('3/7s', { algorithm })
      for (const at of [0, 1, 10, 2000, 1500, 0, 6999, 7000, 7001, 100]) {
        const { retryAfter, resetAfter, availableAfter, delay } = key.take(NOW + at)
        for (const wait of [retryAfter, resetAfter, availableAfter, delay]) {
          expect(wait).toBeGreaterThanOrEqual(0)
          expect(wait! % 1).toBe(0)
        }
      }
      expect(key.peek(NOW + DAY).retryAfter).toBe(0)
    },
  )
})

describe('units of waits', () => {
  it.each(ALGORITHMS)('trap: a refusal with a wait of 0 is retried at once (%s)', (algorithm) => {
    // A third of a millisecond for the buckets, which cut would be 0.
    const key = inMemory('3000/s', { algorithm })
    key.take(NOW, 3000)
    const { allowed, retryAfter } = key.take(NOW)
    expect(allowed).toBe(false)
    expect(retryAfter).toBeGreaterThanOrEqual(1)
    expect(key.take(NOW + retryAfter!).allowed).toBe(true)
  })

  it.each(ALGORITHMS)(
    'trap: seconds where milliseconds are due, or an instant where a wait is (%s)',
    (algorithm) => {
      const key = inMemory('1/10s', { algorithm })
      const instant = Math.ceil(NOW / 10_000) * 10_000
      key.take(instant, 1)
      const { retryAfter, resetAfter, availableAfter, at } = key.take(instant + 1)
      // One window, but for the window counter: it weighs the last window to the end of the next.
      const wait = algorithm === 'sliding-window' ? 19_999 : 9999
      expect({ retryAfter, resetAfter, availableAfter, at }).toEqual({
        retryAfter: wait,
        resetAfter: wait,
        availableAfter: wait,
        at: instant + 1,
      })
    },
  )
})

describe('clocks', () => {
  it.each(ALGORITHMS)('trap: a clock that steps back mints units (%s)', (algorithm) => {
    const key = inMemory('10/min', { algorithm })
    key.take(NOW + 90_000, 10)
    for (const back of [1, 100, 30_000, 59_999]) {
      expect(key.take(NOW + 90_000 - back)).toMatchObject({ allowed: false, remaining: 0 })
    }
  })

  it.each(ALGORITHMS)('trap: a clock that steps back destroys units (%s)', (algorithm) => {
    const key = inMemory('10/min', { algorithm })
    key.take(NOW + 90_000, 4)
    expect(key.peek(NOW + 89_000).remaining).toBe(6)
    expect(key.peek(NOW + 90_000).remaining).toBe(6)
  })

  it.each(ALGORITHMS)(
    'trap: a clock that steps back gives negative waits or an error (%s)',
    (algorithm) => {
      const key = inMemory('10/min', { algorithm })
      key.take(NOW + 90_000, 10)
      const { retryAfter, resetAfter } = key.take(NOW + 89_000)
      // One second longer than at the last instant, since the clock has to come back first.
      expect(retryAfter).toBe(key.take(NOW + 90_000).retryAfter! + 1000)
      expect(resetAfter).toBe(key.take(NOW + 90_000).resetAfter + 1000)
    },
  )
})

describe('numbers', () => {
  it.each(BUCKETS)(
    'trap: ten times a tenth of a token is less than one token (%s)',
    (algorithm) => {
      const key = inMemory('1/s', { algorithm })
      key.take(0)
      // Each of these steps brings back a tenth; nothing is added up, so nothing is lost.
      for (let at = 100; at < 1000; at += 100) expect(key.take(at).allowed).toBe(false)
      expect(key.take(1000).allowed).toBe(true)
    },
  )

  it.each(BUCKETS)(
    'trap: a rate of three tenths, taken in small steps, drifts (%s)',
    (algorithm) => {
      const key = inMemory('3/10s', { algorithm, burst: 3 })
      let taken = 3
      key.take(NOW, 3)
      for (let at = 1; at <= 1_000_000; at += 7) if (key.take(NOW + at).allowed) taken += 1
      // 3 at once, and 3 in each of a hundred times ten seconds.
      expect(taken).toBeGreaterThanOrEqual(3 + 299)
      expect(taken).toBeLessThanOrEqual(3 + 300)
    },
  )

  it('trap: GCRA in epoch-sized floats is off by one in remaining', () => {
    // The arrival time would be 1.8e12 plus a multiple of 1000 / 7, which no double holds.
    const key = inMemory('7/s', { algorithm: 'gcra', burst: 7 })
    for (let left = 6; left >= 0; left--) expect(key.take(NOW + 1).remaining).toBe(left)
    expect(key.take(NOW + 1).allowed).toBe(false)
    expect(key.take(NOW + 143).allowed).toBe(false)
    expect(key.take(NOW + 144)).toMatchObject({ allowed: true, remaining: 0 })
  })

  it.each(BUCKETS)('trap: Math.ceil of a product that is nearly whole (%s)', (algorithm) => {
    expect(Math.ceil((1 - 0.7) * 1000)).toBe(301)
    const key = inMemory('1/s', { algorithm })
    key.take(NOW)
    expect(key.take(NOW + 700).retryAfter).toBe(300)
    expect(key.take(NOW + 1000).allowed).toBe(true)
  })
})

describe('timers', () => {
  beforeEach(
    () =>
      void vi.useFakeTimers({
        toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'],
      }),
  )
  afterEach(() => {
    // The spies first: they would put the fake timers back later.
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  it.each(ALGORITHMS)(
    'trap: a timer of more than 2^31 ms fires at once (%s, a window of 40 days)',
    (algorithm) => {
      const timers = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'setInterval')]
      // Windows of 40 days begin at multiples of it: at this instant one has just begun.
      const clock = fakeClock(500 * 40 * DAY)
      const limit = { algorithm, quota: 2, window: '40d' } as const
      const limiter = createLimiter({ limit, store: memoryStore({ clock }) })
      limiter.check('key', 2)
      clock.advance(60_000)
      vi.advanceTimersByTime(60_000)
      const { allowed, resetAfter } = limiter.check('key')
      expect(allowed).toBe(false)
      expect(resetAfter).toBeGreaterThan(2 ** 31)
      const waits = timers.flatMap((timer) => timer.mock.calls.map((call) => call[1] ?? 0))
      expect(Math.max(...waits)).toBeLessThan(2 ** 31)
      limiter.close()
    },
  )

  it('trap: a delay above 2^31 ms is cut or wraps round', () => {
    const key = inMemory({ algorithm: 'leaky-bucket', quota: 1, window: 40 * DAY, burst: 3 })
    expect([key.take(NOW).delay, key.take(NOW).delay, key.take(NOW).delay]).toEqual([
      0,
      40 * DAY,
      80 * DAY,
    ])
  })

  it('trap: a timer per store that is left behind when the store closes', () => {
    const store = memoryStore()
    expect(vi.getTimerCount()).toBe(1)
    store.close()
    expect(vi.getTimerCount()).toBe(0)
  })
})

it('trap: a timer that keeps the process alive', () => {
  const timers = vi.spyOn(globalThis, 'setInterval')
  const store = memoryStore()
  const made = timers.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())
  expect(made).toEqual([false])
  store.close()
  timers.mockRestore()
})

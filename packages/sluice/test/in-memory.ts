// One key of a memory store under a clock that a test sets.
import { limit, type LimitInput, type LimitOptions } from '../src/limit/limit.ts'
import type { Verdict } from '../src/limit/verdict.ts'
import { memoryStore, type MemoryStore } from '../src/stores/memory/memory-store.ts'
import type { Check } from '../src/stores/store.ts'
import { fakeClock } from '../src/testing/fake-clock.ts'
import type { Millis } from '../src/time/clock.ts'

/** The key, asked at any instant. */
export interface InMemory {
  readonly store: MemoryStore
  take(at: Millis, cost?: number, more?: Partial<Check>): Verdict
  peek(at: Millis, cost?: number): Verdict
  refund(at: Millis, cost: number, takenAt: Millis): void
}

/** A store with one limit: `inMemory('5/s', { algorithm: 'gcra' })`. */
export function inMemory(input: LimitInput, options: LimitOptions = {}): InMemory {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const made = limit(input, options)
  const check = (cost: number): Check => ({ space: 'space', key: 'key', limit: made, cost })
  return {
    store,
    take(at, cost = 1, more = {}) {
      clock.set(at)
      return store.take([{ ...check(cost), ...more }])[0]!
    },
    peek(at, cost = 1) {
      clock.set(at)
      return store.peek([check(cost)])[0]!
    },
    refund(at, cost, takenAt) {
      clock.set(at)
      store.refund([{ ...check(cost), takenAt }])
    },
  }
}

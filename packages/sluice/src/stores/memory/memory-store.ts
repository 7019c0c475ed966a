// The embedded store: counts in this process, answered at once.
import { show, SluiceError } from '../../errors.ts'
import { sharedClock, type Clock } from '../../time/clock.ts'
import { Memory, type MemoryStore } from './memory.ts'

export type { MemoryStore, MemoryStoreKeys, MemoryStoreStats } from './memory.ts'

/** How the memory store may differ from its defaults. */
export interface MemoryStoreOptions {
  /** Most keys at once. Beyond it, keys that are not over their limit make room for new ones. Default 1,000,000. */
  readonly maxKeys?: number
  /** Default: the system's monotonic clock, read once for many decisions while the event loop is busy. */
  readonly clock?: Clock
}

/**
 * Counts in this process's memory. No timer per key: expiry goes along with new keys, and one timer per
 * store gives memory back when there are none.
 *
 * When `maxKeys` are held, a new key takes the place of one that is expired or not over its limit. When
 * every key looked at is over its limit, none is freed: new keys of a rule then share one count.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { maxKeys = 1_000_000, clock = sharedClock() } = options
  if (!Number.isSafeInteger(maxKeys) || maxKeys < 1) {
    throw new SluiceError(
      'invalid-option',
      `maxKeys is ${show(maxKeys)}; accepted: a whole number, 1 or more`,
    )
  }
  if (typeof clock !== 'function') {
    throw new SluiceError(
      'invalid-option',
      `clock is ${show(clock)}; accepted: a function that returns milliseconds`,
    )
  }
  return new Memory(maxKeys, clock)
}

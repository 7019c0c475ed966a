// The embedded store: counts in this process, answered at once.
import { show, SluiceError } from '../../errors.ts'
import { sharedClock, type Clock } from '../../time/clock.ts'
import type { SyncStore } from '../store.ts'
import { Memory } from './memory.ts'

/** How the memory store may differ from its defaults. */
export interface MemoryStoreOptions {
  /** Most keys at once. Beyond it, keys that are not over their limit make room for new ones. Default 1,000,000. */
  readonly maxKeys?: number
  /** Default: the system's monotonic clock, read once for many decisions while the event loop is busy. */
  readonly clock?: Clock
}

/** What the store has done so far. */
export interface MemoryStoreStats {
  readonly keys: number
  /** Keys forgotten before their time, to make room. */
  readonly evicted: number
  /** Takes that shared their rule's overflow count because every key looked at was over its limit. */
  readonly overflowed: number
}

/** A {@link SyncStore} in this process's memory. */
export interface MemoryStore extends SyncStore {
  stats(): MemoryStoreStats
  /**
   * Some keys of one space, expired ones among them: looks at `looks` places from `from` on, which is 0 at first and
   * `next` of the answer before. Keys that stay are seen once; those that come or go meanwhile, perhaps.
   */
  keysOf(space: string, from: number, looks: number): MemoryStoreKeys
}

/** Some keys, and where to go on; undefined at the end. */
export interface MemoryStoreKeys {
  readonly keys: readonly string[]
  readonly next: number | undefined
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

// The embedded store: counts in this process, answered at once.
import { CLOCK_FORM, OptionReader } from '../../options/option-reader.ts'
import { sharedClock, type Clock } from '../../time/clock.ts'
import { MAX_SLOTS } from './key-index.ts'
import { Memory, type MemoryStore } from './memory.ts'

export type { MemoryStore, MemoryStoreKeys, MemoryStoreStats } from './memory.ts'

/** With what the tables have in reserve, less than 64 MB of the process. */
const MAX_BYTES = 56 * 1024 * 1024
const BYTES_PER_KEY = 56
/** Room for one key of any length. */
const LEAST_BYTES = 1024

/**
 * How the memory store may differ from its defaults.
 *
 * @example
 * ```ts
 * memoryStore({ maxKeys: 100_000 })
 * ```
 */
export interface MemoryStoreOptions {
  /** Most keys at once. Beyond it, keys that are not over their limit make room for new ones. Default 1,000,000. */
  readonly maxKeys?: number
  /**
   * Most bytes of keys and states at once, beyond which keys make room in the same way. A key of up to 20 characters
   * takes about 48. Default 56 MiB, or 56 for each of `maxKeys` if that is more.
   */
  readonly maxBytes?: number
  /** Default: the system's monotonic clock, read once for many decisions while the event loop is busy. */
  readonly clock?: Clock
}

/**
 * Counts in this process's memory. No timer per key: expiry goes along with new keys, and one timer per
 * store gives memory back when there are none.
 *
 * When `maxKeys` or `maxBytes` are held, a new key takes the place of one that is expired or not over its limit. When
 * every key looked at is over its limit, none is freed: new keys of a rule then share one count.
 *
 * @example
 * ```ts
 * const store = memoryStore({ maxKeys: 100_000 })
 * const limiter = createLimiter({ limit: '100/min', store })
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const reader = new OptionReader('memoryStore', options, ['maxKeys', 'maxBytes', 'clock'])
  const maxKeys = reader.number('maxKeys', options.maxKeys, 1_000_000, { least: 1, whole: true })
  const room = Math.max(MAX_BYTES, BYTES_PER_KEY * maxKeys)
  const maxBytes = reader.number('maxBytes', options.maxBytes, room, {
    least: LEAST_BYTES,
    whole: true,
  })
  const clock = reader.callable('clock', options.clock, undefined, CLOCK_FORM) ?? sharedClock()
  const held = { keys: 0, bytes: 0, maxKeys: Math.min(maxKeys, MAX_SLOTS), maxBytes }
  return new Memory(held, clock)
}

// What decides about a recorded request: a limiter of the library, on counts whose clock is the time of the log.
import { createLimiter, memoryStore, type Limit, type Millis, type SyncLimiter } from 'sluice'

/** The time of the log; every store of a replay reads it. */
export interface LogTime {
  now: Millis
}

/** Decides about requests at the time of the log. */
export interface Decider<T> {
  readonly name: string
  readonly limit: Limit | null
  /** The windows in which peaks are of interest. */
  readonly windows: readonly Millis[]
  /** Refusals by rule; empty for a single limit. */
  readonly refusedBy: ReadonlyMap<string, number>
  /** Whether a request may go on; `item` is what {@link Decider} of a policy needs besides the key. */
  allows(key: string, item: T | undefined): boolean
  close(): void
}

/** As many counts as a large service holds; beyond it the store frees those that are not over their limit. */
const MAX_KEYS = 1_000_000

/** A store whose clock is the time of the log. */
export function storeAt(time: LogTime): ReturnType<typeof memoryStore> {
  return memoryStore({ clock: () => time.now, maxKeys: MAX_KEYS })
}

/** Decides by one limit for each key. */
export class LimitDecider implements Decider<never> {
  readonly name: string
  readonly limit: Limit
  readonly windows: readonly Millis[]
  readonly refusedBy: ReadonlyMap<string, number> = new Map()
  private readonly limiter: SyncLimiter
  private readonly store: ReturnType<typeof memoryStore>

  constructor(name: string, limit: Limit, time: LogTime) {
    this.name = name
    this.limit = limit
    this.windows = [limit.window]
    this.store = storeAt(time)
    this.limiter = createLimiter({ limit, store: this.store })
  }

  allows(key: string): boolean {
    return this.limiter.check(key).allowed
  }

  close(): void {
    this.limiter.close()
    this.store.close()
  }
}

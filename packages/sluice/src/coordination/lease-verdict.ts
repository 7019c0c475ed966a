// The verdict of a lease: what this process knows for certain, without asking the store.
import { algorithmOf } from '../algorithms/table.ts'
import type { Limit } from '../limit/limit.ts'
import type { Source, Verdict } from '../limit/verdict.ts'
import type { Millis } from '../time/clock.ts'

/**
 * An allowed cost that was spent from a lease. Its numbers never promise too much: `remaining` is what is left in the
 * lease, although the store may have more, and the waits are those of a count that others have used up meanwhile.
 */
export class LeaseVerdict implements Verdict {
  readonly at: Millis
  readonly remaining: number
  private readonly limit: Limit
  private readonly life: Millis

  /** `life`: how long leases last, those of other processes too. */
  constructor(limit: Limit, remaining: number, at: Millis, life: Millis) {
    this.limit = limit
    this.remaining = remaining
    this.at = at
    this.life = life
  }

  // Not fields, which every decision would carry.
  get allowed(): boolean {
    return true
  }

  get retryAfter(): Millis {
    return 0
  }

  get delay(): Millis {
    return 0
  }

  get source(): Source {
    return 'lease'
  }

  /** At most: until every lease has ended and a full count has drained. */
  get resetAfter(): Millis {
    return this.life + drainOf(this.limit)
  }

  /** At most: until every lease has ended and one more unit has drained, or the next window has begun. */
  get availableAfter(): Millis {
    const { limit } = this
    if (this.remaining >= limit.burst) return 0
    const unit = algorithmOf(limit).hasBurst
      ? Math.ceil(limit.window / limit.quota)
      : drainOf(limit)
    return this.life + unit
  }

  /** The verdict as plain data, for JSON. */
  toJSON(): Verdict {
    const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source } = this
    return { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source }
  }
}

/** How long a full count needs to be as good as new. */
function drainOf(limit: Limit): Millis {
  if (limit.algorithm === 'sliding-window') return 2 * limit.window
  return algorithmOf(limit).hasBurst
    ? Math.ceil((limit.burst * limit.window) / limit.quota)
    : limit.window
}

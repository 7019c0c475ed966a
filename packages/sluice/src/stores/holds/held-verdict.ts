// What a count with units out says about one cost: its numbers, worked out when they are read.
import { algorithmOf } from '../../algorithms/table.ts'
import type { Limit } from '../../limit/limit.ts'
import type { Source, Verdict } from '../../limit/verdict.ts'
import type { Millis } from '../../time/clock.ts'
import type { Booked, HeldNumbers } from './held-count.ts'
import { fullAtHeld, raisedCost, raisedLimit, roomOf } from './held-count.ts'
import type { Settled } from './hold-store.ts'

/** A copy of the numbers, for a verdict that outlives the next change. */
export function numbersOf({ state, out, leased, nextEnd, lastEnd }: HeldNumbers): HeldNumbers {
  return { state: { ...state }, out, leased, nextEnd, lastEnd }
}

/**
 * The verdict of a count with holds. Nothing can come free before `retryAfter`: that is when enough has drained, or
 * when the next hold ends. A hold that is settled early makes room earlier.
 */
export class HeldVerdict implements Verdict {
  readonly allowed: boolean
  readonly at: Millis
  readonly source: Source
  readonly delay = 0
  /** The count after the decision. */
  readonly numbers: HeldNumbers
  readonly held: number | undefined
  private readonly limit: Limit
  private readonly cost: number

  constructor(
    limit: Limit,
    numbers: HeldNumbers,
    cost: number,
    now: Millis,
    allowed: boolean,
    source: Source,
    held?: number,
  ) {
    this.held = held
    this.limit = limit
    this.numbers = numbers
    this.cost = cost
    this.at = now
    this.allowed = allowed
    this.source = source
  }

  get remaining(): number {
    return Math.max(0, roomOf(this.limit, this.numbers, this.ownInstant))
  }

  get retryAfter(): Millis | null {
    if (this.allowed) return 0
    return this.cost > this.limit.burst ? null : this.freeAfter(this.cost)
  }

  get resetAfter(): Millis {
    return Math.max(0, fullAtHeld(this.limit, this.numbers, this.ownInstant) - this.at)
  }

  get availableAfter(): Millis {
    const { remaining } = this
    return remaining >= this.limit.burst ? 0 : this.freeAfter(remaining + 1)
  }

  /** The verdict as plain data, for JSON. */
  toJSON(): Verdict {
    const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source } = this
    return { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source }
  }

  /** The count's own time, which is ahead of a clock that went back. */
  private get ownInstant(): Millis {
    return Math.max(this.at, this.numbers.state.at)
  }

  private freeAfter(cost: number): Millis {
    const { limit, numbers, ownInstant } = this
    const { state, out, leased, nextEnd } = numbers
    let instant = nextEnd
    if (cost + out <= limit.burst) {
      const raised = raisedLimit(limit)
      const wanted = raisedCost(limit, raised, out, cost)
      const drained = algorithmOf(limit).freeAt(raised, state, wanted, ownInstant)
      // The end of a lease frees nothing; the end of any other hold may.
      instant = out === leased ? drained : Math.min(drained, nextEnd)
    }
    return Math.max(1, instant - this.at)
  }
}

/** The answer to a settlement, from what was booked and the count after it. */
export function settledOf(
  limit: Limit,
  numbers: HeldNumbers,
  { status, charged, kept, endsAt }: Booked,
  spent: number,
  now: Millis,
): Settled {
  const room = roomOf(limit, numbers, Math.max(now, numbers.state.at))
  const isBooked = status === 'settled' || status === 'late'
  return {
    status,
    charged,
    uncharged: isBooked ? spent - charged : 0,
    kept,
    endsAt,
    remaining: Math.max(0, room),
    debt: Math.max(0, -room),
    at: now,
  }
}

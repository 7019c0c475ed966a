// What a count with units out says about one cost: its numbers, worked out when they are read.
import { algorithmOf } from '../../algorithms/table.ts'
import type { Limit } from '../../limit/limit.ts'
import type { Source, Verdict } from '../../limit/verdict.ts'
import type { Millis } from '../../time/clock.ts'
import type { Booked, HeldNumbers } from './held-count.ts'
import { fullAtHeld, raisedCost, raisedLimit, roomOf, stateAtLastEnd } from './held-count.ts'
import type { Settled } from './hold-store.ts'

/** A copy of the numbers, for a verdict that outlives the next change. */
export function numbersOf({ state, out, leased, nextEnd, lastEnd }: HeldNumbers): HeldNumbers {
  return { state: { ...state }, out, leased, nextEnd, lastEnd }
}

/**
 * The verdict of a count with holds. `retryAfter` is when enough has drained beside what is out; if that never comes, when
 * the next hold ends, or when what is leased has been spent and drained. Units that are handed back make room earlier.
 */
export class HeldVerdict implements Verdict {
  readonly allowed: boolean
  readonly at: Millis
  readonly source: Source
  readonly delay = 0
  /** The count after the decision. */
  readonly numbers: HeldNumbers
  readonly held: number | undefined
  protected readonly limit: Limit
  protected readonly cost: number

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
    return Math.max(0, this.fullAt() - this.at)
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
  protected get ownInstant(): Millis {
    return Math.max(this.at, this.numbers.state.at)
  }

  /** When everything is as new. */
  protected fullAt(): Millis {
    return fullAtHeld(this.limit, this.numbers, this.ownInstant)
  }

  /** When a cost that does not fit will fit beside what is out. */
  protected drainedAt(cost: number): Millis {
    const { limit, numbers, ownInstant } = this
    const raised = raisedLimit(limit)
    const wanted = raisedCost(limit, raised, numbers.out, cost)
    return algorithmOf(limit).freeAt(raised, numbers.state, wanted, ownInstant)
  }

  /** When a cost will fit that does not fit beside what is leased. */
  protected leasesDrainedAt(cost: number): Millis {
    const { limit, numbers } = this
    const raised = raisedLimit(limit)
    const state = stateAtLastEnd(limit, numbers)
    const wanted = raisedCost(limit, raised, 0, cost)
    return algorithmOf(limit).freeAt(raised, state, wanted, Math.max(numbers.lastEnd, state.at))
  }

  private freeAfter(cost: number): Millis {
    const { out, leased, nextEnd } = this.numbers
    // The end of a lease frees nothing; the end of any other hold may.
    const isLeased = out === leased
    let instant = nextEnd
    if (cost + out <= this.limit.burst)
      instant = isLeased ? this.drainedAt(cost) : Math.min(this.drainedAt(cost), nextEnd)
    else if (isLeased) instant = this.leasesDrainedAt(cost)
    return Math.max(1, instant - this.at)
  }
}

/** What a store works out of a log whose entries it does not send: instants, each 0 if it never comes. */
export interface LogInstants {
  readonly fullAt: Millis
  /** When the cost fits beside what is out. */
  readonly freeAt: Millis
  /** When one unit more than remains does. */
  readonly availableAt: Millis
}

/** The verdict of a log with holds, of which the entries are not known. */
export class HeldLogVerdict extends HeldVerdict {
  private readonly instants: LogInstants

  constructor(
    instants: LogInstants,
    ...[limit, numbers, cost, now, allowed, source, held]: ConstructorParameters<typeof HeldVerdict>
  ) {
    super(limit, numbers, cost, now, allowed, source, held)
    this.instants = instants
  }

  protected override fullAt(): Millis {
    return this.instants.fullAt
  }

  protected override drainedAt(cost: number): Millis {
    const { freeAt, availableAt } = this.instants
    return cost === this.remaining + 1 ? availableAt : freeAt
  }

  protected override leasesDrainedAt(): Millis {
    return this.numbers.lastEnd + this.limit.window
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

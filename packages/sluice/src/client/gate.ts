// Who may go on now: the seam between a queue and what it waits for.
import type { MaybePromise } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'

/** What a gate says of a cost. */
export interface Passage {
  readonly allowed: boolean
  /** The largest cost that would pass at the same instant. */
  readonly remaining: number
  /** When to ask again; null when this cost can never pass. */
  readonly retryAfter: Millis | null
  /** The instant of the decision, by the gate's own clock. */
  readonly at: Millis
}

/** Decides who may go on now. */
export interface Gate {
  take(cost: number): MaybePromise<Passage>
  /** Hands back what was taken for somebody who has left meanwhile. */
  refund(cost: number, takenAt: Millis): MaybePromise<void>
  /** The least time, after the head of a queue has passed, until so many units behind it have. */
  leastWait(headCost: number, units: number): Millis
}

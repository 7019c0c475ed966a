// The interface between a queue of calls and the limit that they wait for.
import type { MaybePromise } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'

/** A gate's answer for one cost. */
export interface GateAnswer {
  readonly allowed: boolean
  /** The largest cost that would pass at the same instant. */
  readonly remaining: number
  /** Milliseconds until the next try; null if this cost can never pass. */
  readonly retryAfter: Millis | null
  /** The instant of the decision, by the gate's own clock. */
  readonly at: Millis
}

/** Decides which calls may start now. */
export interface Gate {
  take(cost: number): MaybePromise<GateAnswer>
  /** Refunds units taken for a call that was aborted meanwhile. */
  refund(cost: number, takenAt: Millis): MaybePromise<void>
  /** A lower bound of the time from the pass of the queue's head until `units` behind it have passed. */
  leastWait(headCost: number, units: number): Millis
}

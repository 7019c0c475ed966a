// What an algorithm is: a handful of functions over one small state. Nothing here reads a clock.
import type { AlgorithmName, Limit } from '../limit/limit.ts'
import type { Millis } from '../time/clock.ts'

/**
 * What is remembered of one count. Whole numbers only; what they mean is the algorithm's own affair:
 * `at` is an instant, `used` and `before` are amounts.
 *
 * An algorithm changes the state it is given in place, since a new object for each step would cost more than
 * the arithmetic. Whoever calls it owns the state: `take` works on a copy and is a pure function.
 */
export interface State {
  at: Millis
  used: number
  before: number
}

/**
 * One algorithm. `take` comes first; every other function takes the state it left, at the same `now`.
 * Instants are absolute, so that one subtraction gives every wait.
 *
 * Shared rules: `used` may be above what the limit holds, counted under a larger limit. It then reads as full
 * and stays as it is, so that no limit hands out what another has counted. A clock that went back by up to one
 * window stands still until it catches up, so that it never grants more; one that went back further was set,
 * and the state moves to the new time with its units unchanged, so that no key stays shut.
 */
export interface Algorithm<S extends State = State> {
  readonly name: AlgorithmName
  /** How many of the state's numbers matter; 0 when the state is more than its numbers. */
  readonly words: 0 | 2 | 3
  /** The state of a count that has none: the full quota. */
  fresh(limit: Limit, now: Millis): S
  /** Takes the cost if it fits at `now` and says whether it did. A cost of 0 always fits. */
  take(limit: Limit, state: S, cost: number, now: Millis): boolean
  /** Takes a cost above 0, whether it fits or not; never beyond full, and never lowering what is there. */
  spend(limit: Limit, state: S, cost: number, now: Millis): void
  /** Hands back a cost taken at `takenAt`: never above full, and nothing that time has already given back. */
  refund(limit: Limit, state: S, cost: number, now: Millis, takenAt: Millis): void
  /** The largest cost that fits. */
  remaining(limit: Limit, state: S, now: Millis): number
  /** The first instant at which a cost that does not fit now will; only asked for a cost within the burst. */
  freeAt(limit: Limit, state: S, cost: number, now: Millis): Millis
  /** The first instant at which the state answers as no state does. */
  fullAt(limit: Limit, state: S, now: Millis): Millis
  /** How long to hold what was just allowed; `state` is the state after it. */
  delay(limit: Limit, state: S, cost: number, now: Millis): Millis
}

// The arithmetic that token bucket, GCRA and leaky bucket share: a level that drains with time.
//
// `used` is the level in units of 1/window: one unit of cost is `window` of it, one millisecond drains
// exactly `quota` of it, and the bucket holds burst * window. Whole numbers throughout. `at` is the
// instant for which the level holds. As a token bucket: tokens = burst - used / window. As GCRA: the
// theoretical arrival time is at + used / quota.
import type { Limit } from '../limit/limit.ts'
import type { Millis } from '../time/clock.ts'
import type { State } from './algorithm.ts'
import { ceilDiv, floorDiv } from './arithmetic.ts'

/** An empty bucket. */
export function fresh(_limit: Limit, now: Millis): State {
  return { at: now, used: 0, before: 0 }
}

/** The bucket's level at `now`. */
export function advance(limit: Limit, state: State, now: Millis): State {
  const { quota, window, burst } = limit
  // Idle months make the product inexact, but then it is far above any level.
  const used = Math.min(state.used, burst * window) - Math.max(0, now - state.at) * quota
  const at = now > state.at || state.at - now > window ? now : state.at
  return { at, used: Math.max(0, used), before: 0 }
}

/** Whether the cost fits above the level. */
export function fits(limit: Limit, state: State, cost: number): boolean {
  return state.used + cost * limit.window <= limit.burst * limit.window
}

/** Raises the level, at most to the brim. */
export function spend(limit: Limit, state: State, cost: number): State {
  const used = Math.min(state.used + cost * limit.window, limit.burst * limit.window)
  return { at: state.at, used, before: 0 }
}

/** Lowers the level by what has not drained since it was taken. */
export function give(
  limit: Limit,
  state: State,
  cost: number,
  _now: Millis,
  takenAt: Millis,
): State {
  // Drained by the state's own time, which is ahead of a clock that went back.
  const drained = Math.max(0, state.at - takenAt) * limit.quota
  const back = Math.max(0, cost * limit.window - drained)
  return { at: state.at, used: Math.max(0, state.used - back), before: 0 }
}

/** Whole units above the level. */
export function remaining(limit: Limit, state: State): number {
  return floorDiv(limit.burst * limit.window - state.used, limit.window)
}

/** When enough has drained for the cost. */
export function freeAt(limit: Limit, state: State, cost: number): Millis {
  return (
    state.at + ceilDiv(state.used + cost * limit.window - limit.burst * limit.window, limit.quota)
  )
}

/** When the bucket is empty of use again. */
export function fullAt(limit: Limit, state: State, now: Millis): Millis {
  return state.used === 0 ? now : state.at + ceilDiv(state.used, limit.quota)
}

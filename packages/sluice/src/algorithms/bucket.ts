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

/** Lets the bucket drain until `now`, then raises the level if the cost fits above it. */
export function take(limit: Limit, state: State, cost: number, now: Millis): boolean {
  const full = limit.burst * limit.window
  // Idle months make the product inexact, but then it is far above any level.
  const drained = Math.max(0, now - state.at) * limit.quota
  const level = Math.max(0, Math.min(state.used, full) - drained)
  if (now > state.at || state.at - now > limit.window) state.at = now
  const wanted = level + cost * limit.window
  const fits = wanted <= full
  state.used = fits ? wanted : level
  return fits
}

/** Raises the level, at most to the brim. */
export function spend(limit: Limit, state: State, cost: number): void {
  state.used = Math.min(state.used + cost * limit.window, limit.burst * limit.window)
}

/** Lowers the level by what has not drained since it was taken. */
export function give(
  limit: Limit,
  state: State,
  cost: number,
  _now: Millis,
  takenAt: Millis,
): void {
  // Drained by the state's own time, which is ahead of a clock that went back.
  const drained = Math.max(0, state.at - takenAt) * limit.quota
  const back = Math.max(0, cost * limit.window - drained)
  state.used = Math.max(0, state.used - back)
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

// The arithmetic that token bucket, GCRA and leaky bucket share: a level that drains with time.
//
// `used` is the level in units of 1/window: one unit of cost is `window` of it, one millisecond drains
// exactly `quota` of it, and the bucket holds burst * window. Whole numbers throughout. `at` is the
// instant for which the level holds. As a token bucket: tokens = burst - used / window. As GCRA: the
// theoretical arrival time is at + used / quota.
import type { Millis } from '../time/clock.ts'
import type { LimitNumbers, State } from './algorithm.ts'
import { ceilDiv, floorDiv } from './arithmetic.ts'

/** An empty bucket. */
export function fresh(_limit: LimitNumbers, now: Millis): State {
  return { at: now, used: 0, before: 0 }
}

/**
 * Raises the level if the cost fits above what has not drained at `now`.
 *
 * The level may be above the brim, counted under a larger limit. For the decision it then reads as just full
 * at its instant; what is kept is the whole of it, which only time drains. It never grows further: what fits
 * has drained before.
 */
export function take(limit: LimitNumbers, state: State, cost: number, now: Millis): boolean {
  const { at, used } = state
  const { window } = limit
  const full = limit.burst * window
  // Idle months make the product inexact, but then it is far above any level.
  const drained = now > at ? (now - at) * limit.quota : 0
  if (at - now > window) state.at = now
  const more = cost * window
  const fits = Math.max(0, Math.min(used, full) - drained) + more <= full
  if (fits && cost > 0) {
    state.used = Math.max(0, used - drained) + more
    if (now > at) state.at = now
  }
  return fits
}

/** Lets the whole level drain until `now`. */
function drain(limit: LimitNumbers, state: State, now: Millis): void {
  state.used = Math.max(0, state.used - Math.max(0, now - state.at) * limit.quota)
  state.at = Math.max(state.at, now)
}

/** Raises the level, at most to the brim. */
export function spend(limit: LimitNumbers, state: State, cost: number, now: Millis): void {
  drain(limit, state, now)
  const { used } = state
  state.used = Math.max(used, Math.min(used + cost * limit.window, limit.burst * limit.window))
}

/** Lowers the level by what has not drained since it was taken. */
export function refund(
  limit: LimitNumbers,
  state: State,
  cost: number,
  now: Millis,
  takenAt: Millis,
): void {
  // Drained by the state's own time, which is ahead of a clock that went back.
  const drained = Math.max(0, Math.max(state.at, now) - takenAt) * limit.quota
  const back = Math.max(0, cost * limit.window - drained)
  // A level above the brim keeps its instant, from which it reads as full: handing back must not make a wait longer.
  if (state.used <= limit.burst * limit.window) drain(limit, state, now)
  state.used = Math.max(0, state.used - back)
}

/** Whole units above the level. */
export function remaining(limit: LimitNumbers, state: State, now: Millis): number {
  const full = limit.burst * limit.window
  const drained = Math.max(0, now - state.at) * limit.quota
  return floorDiv(full - Math.max(0, Math.min(state.used, full) - drained), limit.window)
}

/** When enough has drained for the cost. */
export function freeAt(limit: LimitNumbers, state: State, cost: number): Millis {
  const full = limit.burst * limit.window
  const excess = Math.min(state.used, full) + cost * limit.window - full
  return state.at + ceilDiv(excess, limit.quota)
}

/** When the whole level has drained; under a quota of 0, when one of 1 would have drained it. */
export function fullAt(limit: LimitNumbers, state: State, now: Millis): Millis {
  if (state.used === 0) return now
  return Math.max(now, state.at + ceilDiv(state.used, Math.max(1, limit.quota)))
}

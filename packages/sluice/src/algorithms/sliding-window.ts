// Sliding window counter: two aligned windows, the previous one weighted by the part of it that still
// lies within one window's length of now. `at` is the current window's start, `used` its units,
// `before` those of the window before it.
//
// The estimate assumes that the previous window's units were spread evenly. At most quota is allowed in
// an aligned window; in the worst case 2 * quota - 1 in a span of one window's length across an edge
// (docs/reference/algorithms/sliding-window.md has the derivation).
import type { Millis } from '../time/clock.ts'
import type { Algorithm, LimitNumbers, State } from './algorithm.ts'
import { ceilDiv, floorDiv } from './arithmetic.ts'

function fresh(limit: LimitNumbers, now: Millis): State {
  return { at: floorDiv(now, limit.window) * limit.window, used: 0, before: 0 }
}

/** Moves on to the window of `now`. */
function roll(limit: LimitNumbers, state: State, now: Millis): void {
  // Most requests come in the window that the state is of, and need no division.
  if (now >= state.at && now - state.at < limit.window) return
  const start = floorDiv(now, limit.window) * limit.window
  if (start > state.at) {
    // Several windows may have passed: only the very last one counts as the previous.
    state.before = start - state.at === limit.window ? state.used : 0
    state.used = 0
    state.at = start
  } else if (state.at - start > limit.window) {
    state.at = start
  }
}

/** Milliseconds since the current window began; 0 while the clock is behind it. */
function elapsed(state: State, now: Millis): Millis {
  return Math.max(0, now - state.at)
}

/** The estimated use within the last window's length, in units of 1/window. */
function estimate(limit: LimitNumbers, state: State, now: Millis): number {
  return state.before * (limit.window - elapsed(state, now)) + state.used * limit.window
}

function take(limit: LimitNumbers, state: State, cost: number, now: Millis): boolean {
  roll(limit, state, now)
  const wanted = estimate(limit, state, now) + cost * limit.window
  // What a larger limit counted may be above the quota; to look is always allowed.
  const fits = wanted <= limit.quota * limit.window || cost === 0
  if (fits) state.used += cost
  return fits
}

function spend(limit: LimitNumbers, state: State, cost: number): void {
  state.used = Math.max(state.used, Math.min(state.used + cost, limit.quota))
}

function refund(
  limit: LimitNumbers,
  state: State,
  cost: number,
  _now: Millis,
  takenAt: Millis,
): void {
  if (takenAt >= state.at) state.used = Math.max(0, state.used - cost)
  else if (takenAt >= state.at - limit.window) state.before = Math.max(0, state.before - cost)
}

function remaining(limit: LimitNumbers, state: State, now: Millis): number {
  return floorDiv(
    Math.max(0, limit.quota * limit.window - estimate(limit, state, now)),
    limit.window,
  )
}

function freeAt(limit: LimitNumbers, state: State, cost: number, now: Millis): Millis {
  const { window } = limit
  const budget = limit.quota - cost
  if (state.used <= budget) {
    // The previous window alone is in the way: wait until enough of it has slid out.
    const past = elapsed(state, now)
    const excess = (window - past) * state.before - (budget - state.used) * window
    return state.at + past + ceilDiv(excess, state.before)
  }
  // The edge is not enough: there the current window becomes the previous one, and must slide out too.
  return state.at + window + ceilDiv(window * (state.used - budget), state.used)
}

function fullAt(limit: LimitNumbers, state: State, now: Millis): Millis {
  if (state.used > 0) return state.at + 2 * limit.window
  return state.before > 0 ? state.at + limit.window : now
}

export const slidingWindow: Algorithm = {
  fresh,
  take,
  spend,
  refund,
  remaining,
  freeAt,
  fullAt,
  delay: () => 0,
}

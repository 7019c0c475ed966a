// Fixed window: `quota` units in each window, windows aligned to the epoch, each half-open.
// Allows at most quota in an aligned window, and so up to twice the quota in a span of that length
// that lies across an edge. `at` is the window's start, `used` the units taken in it.
import type { Millis } from '../time/clock.ts'
import type { Algorithm, LimitNumbers, State } from './algorithm.ts'
import { floorDiv } from './arithmetic.ts'

function fresh(limit: LimitNumbers, now: Millis): State {
  return { at: floorDiv(now, limit.window) * limit.window, used: 0, before: 0 }
}

function take(limit: LimitNumbers, state: State, cost: number, now: Millis): boolean {
  // Most requests come in the window that the state is of, and need no division.
  if (now < state.at || now - state.at >= limit.window) {
    const start = floorDiv(now, limit.window) * limit.window
    if (start > state.at) state.used = 0
    if (start > state.at || state.at - start > limit.window) state.at = start
  }
  // What a larger limit counted may be above the quota; to look is always allowed.
  const fits = state.used + cost <= limit.quota || cost === 0
  if (fits) state.used += cost
  return fits
}

function spend(limit: LimitNumbers, state: State, cost: number): void {
  state.used = Math.max(state.used, Math.min(state.used + cost, limit.quota))
}

function refund(
  _limit: LimitNumbers,
  state: State,
  cost: number,
  _now: Millis,
  takenAt: Millis,
): void {
  // What was taken in an earlier window ended with it.
  if (takenAt >= state.at) state.used = Math.max(0, state.used - cost)
}

function remaining(limit: LimitNumbers, state: State): number {
  return Math.max(0, limit.quota - state.used)
}

function freeAt(limit: LimitNumbers, state: State): Millis {
  return state.at + limit.window
}

function fullAt(limit: LimitNumbers, state: State, now: Millis): Millis {
  return state.used === 0 ? now : state.at + limit.window
}

export const fixedWindow: Algorithm = {
  fresh,
  take,
  spend,
  refund,
  remaining,
  freeAt,
  fullAt,
  delay: () => 0,
}

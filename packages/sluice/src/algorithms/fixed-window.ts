// Fixed window: `quota` units in each window, windows aligned to the epoch, each half-open.
// Allows at most quota in an aligned window, and so up to twice the quota in a span of that length
// that lies across an edge. `at` is the window's start, `used` the units taken in it.
import type { Limit } from '../limit/limit.ts'
import type { Millis } from '../time/clock.ts'
import type { Algorithm, State } from './algorithm.ts'
import { floorDiv } from './arithmetic.ts'

function fresh(limit: Limit, now: Millis): State {
  return { at: floorDiv(now, limit.window) * limit.window, used: 0, before: 0 }
}

function advance(limit: Limit, state: State, now: Millis): State {
  // Most requests come in the window that the state is of, and need no division.
  if (now >= state.at && now - state.at < limit.window) {
    return { at: state.at, used: Math.min(state.used, limit.quota), before: 0 }
  }
  const start = floorDiv(now, limit.window) * limit.window
  if (start > state.at) return { at: start, used: 0, before: 0 }
  const at = state.at - start > limit.window ? start : state.at
  return { at, used: Math.min(state.used, limit.quota), before: 0 }
}

function fits(limit: Limit, state: State, cost: number): boolean {
  return state.used + cost <= limit.quota
}

function spend(limit: Limit, state: State, cost: number): State {
  return { at: state.at, used: Math.min(state.used + cost, limit.quota), before: 0 }
}

function give(_limit: Limit, state: State, cost: number, _now: Millis, takenAt: Millis): State {
  // What was taken in an earlier window ended with it.
  if (takenAt < state.at) return state
  return { at: state.at, used: Math.max(0, state.used - cost), before: 0 }
}

function remaining(limit: Limit, state: State): number {
  return limit.quota - state.used
}

function freeAt(limit: Limit, state: State): Millis {
  return state.at + limit.window
}

function fullAt(limit: Limit, state: State, now: Millis): Millis {
  return state.used === 0 ? now : state.at + limit.window
}

export const fixedWindow: Algorithm = {
  name: 'fixed-window',
  words: 2,
  fresh,
  advance,
  fits,
  spend,
  give,
  remaining,
  freeAt,
  fullAt,
  delay: () => 0,
}

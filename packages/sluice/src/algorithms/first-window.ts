// Fixed window that begins with the first request: `quota` units in each window, the next one beginning
// with the first request after it. Allows at most quota in a window, and up to twice the quota in a span of
// that length that lies across two. `at` is the window's start, `used` the units taken in it.
import type { Millis } from '../time/clock.ts'
import type { Algorithm, LimitNumbers, State } from './algorithm.ts'
import { fixedWindow } from './fixed-window.ts'

function fresh(_limit: LimitNumbers, now: Millis): State {
  return { at: now, used: 0, before: 0 }
}

function take(limit: LimitNumbers, state: State, cost: number, now: Millis): boolean {
  // A window in which nothing is taken has not begun.
  if (state.used === 0 || now - state.at >= limit.window) {
    state.at = now
    state.used = 0
  } else if (state.at - now > limit.window) state.at = now
  const fits = state.used + cost <= limit.quota || cost === 0
  if (fits) state.used += cost
  return fits
}

export const firstWindow: Algorithm = { ...fixedWindow, fresh, take }

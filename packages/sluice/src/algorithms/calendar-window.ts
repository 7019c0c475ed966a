// Fixed window of the calendar: `quota` units in each day, week or month of a time zone.
// Allows at most quota in a period, and up to twice the quota across an edge. `at` is the period's start,
// `before` its end, `used` the units taken in it: only the first request of a period looks at the calendar.
import { periodAt, type Calendar } from '../time/calendar.ts'
import type { Millis } from '../time/clock.ts'
import type { Algorithm, LimitNumbers, State } from './algorithm.ts'
import { fixedWindow } from './fixed-window.ts'

function fresh(limit: LimitNumbers, now: Millis): State {
  const { start, end } = periodAt(limit as Calendar & LimitNumbers, now)
  return { at: start, used: 0, before: end }
}

function take(limit: LimitNumbers, state: State, cost: number, now: Millis): boolean {
  if (now < state.at || now >= state.before) {
    const { start, end } = periodAt(limit as Calendar & LimitNumbers, now)
    const isLater = start > state.at
    if (isLater) state.used = 0
    // The period before is a clock that went back a little, an earlier one a clock that was set.
    if (isLater || end < state.at) {
      state.at = start
      state.before = end
    }
  }
  const fits = state.used + cost <= limit.quota || cost === 0
  if (fits) state.used += cost
  return fits
}

function freeAt(_limit: LimitNumbers, state: State): Millis {
  return state.before
}

function fullAt(_limit: LimitNumbers, state: State, now: Millis): Millis {
  return state.used === 0 ? now : state.before
}

export const calendarWindow: Algorithm = { ...fixedWindow, fresh, take, freeAt, fullAt }

// Lockout: `quota` refusals within one window shut a key for `lockFor`, longer with each repetition.
//
// `used` counts refusals: every `quota` of them is one lock, those beyond it lie in the window that began at `at`.
// `before` is the end of the last lock. A lock is forgotten, with the length of the next, when nothing was refused for
// as long as it lasted, and at least for one window. To take from this count is to pass it: only `spend`, which
// stores call for a refusal, counts.
import type { Millis } from '../time/clock.ts'
import type { Algorithm, LimitNumbers, State } from './algorithm.ts'

function fresh(_limit: LimitNumbers, now: Millis): State {
  return { at: now, used: 0, before: 0 }
}

/** How long the lock with this number lasts, from 1. */
function lengthOf(
  { lockFor = 0, lockGrow = 1, lockUpTo = lockFor }: LimitNumbers,
  lock: number,
): Millis {
  let length = lockFor
  for (let i = 1; i < lock && lockGrow > 1 && length < lockUpTo; i++) length *= lockGrow
  return Math.min(length, lockUpTo)
}

/** Refusals since the last lock. */
function sinceLock(limit: LimitNumbers, state: State): number {
  return state.used % limit.quota
}

/** When the last lock, and with it the count, is forgotten. */
function forgottenAt(limit: LimitNumbers, state: State): Millis {
  const lock = (state.used - sinceLock(limit, state)) / limit.quota
  const quiet = state.before + Math.max(limit.window, lengthOf(limit, lock))
  return sinceLock(limit, state) === 0
    ? quiet
    : Math.max(lock === 0 ? 0 : quiet, state.at + limit.window)
}

function take(limit: LimitNumbers, state: State, cost: number, now: Millis): boolean {
  const { lockUpTo = 0 } = limit
  // No lock is that long: the clock was set back.
  if (state.before - now > lockUpTo) state.before = now + lockUpTo
  if (state.at - now > limit.window) state.at = now
  if (state.used > 0 && now >= forgottenAt(limit, state)) {
    state.used = 0
    state.before = 0
  } else if (now - state.at >= limit.window) state.used -= sinceLock(limit, state)
  return cost === 0 || now >= state.before
}

function spend(limit: LimitNumbers, state: State, _cost: number, now: Millis): void {
  if (now < state.before) return
  if (sinceLock(limit, state) === 0) state.at = now
  state.used += 1
  if (sinceLock(limit, state) === 0) state.before = now + lengthOf(limit, state.used / limit.quota)
}

function remaining(limit: LimitNumbers, state: State, now: Millis): number {
  return now < state.before ? 0 : limit.quota - sinceLock(limit, state)
}

function freeAt(_limit: LimitNumbers, state: State, _cost: number, now: Millis): Millis {
  return Math.max(now, state.before)
}

function fullAt(limit: LimitNumbers, state: State, now: Millis): Millis {
  return state.used === 0 ? now : Math.max(now, forgottenAt(limit, state))
}

export const lockout: Algorithm = {
  fresh,
  take,
  spend,
  refund: () => {},
  remaining,
  freeAt,
  fullAt,
  delay: () => 0,
}

// Sliding window log: every allowed cost with its instant, each counted for exactly one window.
// Allows at most quota in any half-open interval of one window's length. Memory grows with the quota.
import type { Limit } from '../limit/limit.ts'
import type { Millis } from '../time/clock.ts'
import type { Algorithm, State } from './algorithm.ts'

/**
 * The log: `entries` holds pairs of instant and running total, of which [head, tail) count.
 *
 * Running totals make every question a subtraction or a binary search. States share the array: an
 * append writes behind the tail, which no older state looks at, and copies when something already
 * stands there, so a state never changes although the array does. `used` is the sum of the costs
 * that count; `before` is the running total in front of them; `at` is the last instant at which units
 * were taken or handed back.
 */
interface Log extends State {
  readonly entries: number[]
  readonly head: number
  readonly tail: number
}

/** Dead pairs that may stand in front of the log before it is copied without them. */
const SLACK = 32

/** The first index in [head, tail) whose number at `offset` is at least `bound`; tail when none is. */
function search(log: Log, offset: 0 | 1, bound: number): number {
  let low = log.head
  let high = log.tail
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((log.entries[2 * middle + offset] as number) >= bound) high = middle
    else low = middle + 1
  }
  return low
}

/** The log without its first units, up to the running total `before`, and without pairs in front of `head`. */
function dropped(log: Log, head: number, before: number): Log {
  const used = log.used - (before - log.before)
  if (head - SLACK < log.tail - head) return { ...log, head, before, used }
  const entries = log.entries.slice(2 * head, 2 * log.tail)
  for (let i = 1; i < entries.length; i += 2) entries[i] = (entries[i] as number) - before
  return { ...log, entries, head: 0, tail: log.tail - head, before: 0, used }
}

function fresh(_limit: Limit, now: Millis): Log {
  return { at: now, used: 0, before: 0, entries: [], head: 0, tail: 0 }
}

function advance(limit: Limit, state: Log, now: Millis): Log {
  const ahead = state.at - now
  if (ahead > limit.window) {
    const entries = state.entries.map((n, i) => (i % 2 === 0 ? n - ahead : n))
    return { ...state, at: now, entries }
  }
  // An entry dies exactly one window after its instant.
  const head = search(state, 0, Math.max(now, state.at) - limit.window + 1)
  if (head === state.head) return state
  return dropped(state, head, state.entries[2 * head - 1] as number)
}

function fits(limit: Limit, state: Log, cost: number): boolean {
  return state.used + cost <= limit.quota
}

function spend(limit: Limit, state: Log, cost: number, now: Millis): Log {
  const added = Math.min(cost, limit.quota)
  if (added === 0) return state
  const excess = Math.max(0, state.used + added - limit.quota)
  // Beyond full, the oldest units make room for the newest.
  const log =
    excess === 0
      ? state
      : dropped(state, search(state, 1, state.before + excess + 1), state.before + excess)
  const at = Math.max(now, log.at)
  const end = 2 * log.tail
  const entries = log.entries.length === end ? log.entries : log.entries.slice(0, end)
  entries.push(at, log.before + log.used + added)
  return { ...log, at, entries, tail: log.tail + 1, used: log.used + added }
}

function give(_limit: Limit, state: Log, cost: number, now: Millis, takenAt: Millis): Log {
  // From the entry of that instant, then from older ones: never from what came later.
  let left = cost
  let total = state.before
  const entries: number[] = []
  const kept: [Millis, number][] = []
  for (let i = state.tail - 1; i >= state.head; i--) {
    const before = i === state.head ? state.before : (state.entries[2 * i - 1] as number)
    const units = (state.entries[2 * i + 1] as number) - before
    const instant = state.entries[2 * i] as Millis
    const back = instant <= takenAt ? Math.min(left, units) : 0
    left -= back
    if (units > back) kept.push([instant, units - back])
  }
  for (const [instant, units] of kept.toReversed()) {
    total += units
    entries.push(instant, total)
  }
  return {
    at: Math.max(now, state.at),
    used: total - state.before,
    before: state.before,
    entries,
    head: 0,
    tail: kept.length,
  }
}

function remaining(limit: Limit, state: Log): number {
  return Math.max(0, limit.quota - state.used)
}

function freeAt(limit: Limit, state: Log, cost: number): Millis {
  // The oldest entries whose costs together make the room.
  const last = search(state, 1, state.before + state.used + cost - limit.quota)
  return (state.entries[2 * last] as Millis) + limit.window
}

function fullAt(limit: Limit, state: Log, now: Millis): Millis {
  return state.used === 0 ? now : (state.entries[2 * state.tail - 2] as Millis) + limit.window
}

export const slidingLog: Algorithm<Log> = {
  name: 'sliding-log',
  words: 0,
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

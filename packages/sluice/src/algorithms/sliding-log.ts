// Sliding window log: every allowed cost with its instant, each counted for exactly one window.
// Allows at most quota in any half-open interval of one window's length. Memory grows with the quota.
import type { Millis } from '../time/clock.ts'
import type { Algorithm, LimitNumbers, State } from './algorithm.ts'

/**
 * The log: `entries` holds pairs of instant and running total, of which [head, tail) count.
 *
 * Running totals make every question a subtraction or a binary search. Copies of a log share the array: an
 * append writes behind the tail, which no older copy looks at, and takes a new array when something already
 * stands there. `used` is the sum of the costs that count; `before` is the running total in front of them;
 * `at` is the last instant at which units were taken or handed back.
 */
interface Log extends State {
  entries: number[]
  head: number
  tail: number
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

/** Drops the first units, up to the running total `before`, and the pairs in front of `head`. */
function drop(log: Log, head: number, before: number): void {
  log.used -= before - log.before
  log.before = before
  log.head = head
  if (head - SLACK < log.tail - head) return
  log.entries = log.entries.slice(2 * head, 2 * log.tail)
  log.tail -= head
  log.head = 0
}

function fresh(_limit: LimitNumbers, now: Millis): Log {
  return { at: now, used: 0, before: 0, entries: [], head: 0, tail: 0 }
}

/** Drops what no longer counts at `now`. */
function prune(limit: LimitNumbers, log: Log, now: Millis): void {
  const ahead = log.at - now
  if (ahead > limit.window) {
    log.entries = log.entries.map((n, i) => (i % 2 === 0 ? n - ahead : n))
    log.at = now
    return
  }
  // An entry dies exactly one window after its instant.
  const head = search(log, 0, Math.max(now, log.at) - limit.window + 1)
  if (head > log.head) drop(log, head, log.entries[2 * head - 1] as number)
}

function take(limit: LimitNumbers, log: Log, cost: number, now: Millis): boolean {
  prune(limit, log, now)
  const fits = cost === 0 || log.used + cost <= limit.quota
  if (fits && cost > 0) spend(limit, log, cost, now)
  return fits
}

function spend(limit: LimitNumbers, log: Log, cost: number, now: Millis): void {
  const added = Math.min(cost, limit.quota)
  if (added === 0) return
  // Beyond full, the oldest units make room for the newest; what a larger limit counted stays as many.
  const excess = Math.max(0, log.used + added - Math.max(limit.quota, log.used))
  if (excess > 0) drop(log, search(log, 1, log.before + excess + 1), log.before + excess)
  log.at = Math.max(now, log.at)
  log.used += added
  const end = 2 * log.tail
  if (log.entries.length > end) log.entries = log.entries.slice(0, end)
  log.entries.push(log.at, log.before + log.used)
  log.tail += 1
}

function refund(_limit: LimitNumbers, log: Log, cost: number, now: Millis, takenAt: Millis): void {
  // From the entry of that instant, then from older ones: never from what came later.
  let left = cost
  const kept: [Millis, number][] = []
  for (let i = log.tail - 1; i >= log.head; i--) {
    const before = i === log.head ? log.before : (log.entries[2 * i - 1] as number)
    const units = (log.entries[2 * i + 1] as number) - before
    const instant = log.entries[2 * i] as Millis
    const back = instant <= takenAt ? Math.min(left, units) : 0
    left -= back
    if (units > back) kept.push([instant, units - back])
  }
  log.used = 0
  log.entries = kept.toReversed().flatMap(([instant, units]) => {
    log.used += units
    return [instant, log.before + log.used]
  })
  log.head = 0
  log.tail = kept.length
  log.at = Math.max(now, log.at)
}

function remaining(limit: LimitNumbers, state: Log): number {
  return Math.max(0, limit.quota - state.used)
}

function freeAt(limit: LimitNumbers, state: Log, cost: number): Millis {
  // The oldest entries whose costs together make the room.
  const last = search(state, 1, state.before + state.used + cost - limit.quota)
  return (state.entries[2 * last] as Millis) + limit.window
}

function fullAt(limit: LimitNumbers, state: Log, now: Millis): Millis {
  return state.used === 0 ? now : (state.entries[2 * state.tail - 2] as Millis) + limit.window
}

/** What V8 needs for a log: the object, the array, and a number each for instants and totals. */
export function bytesOfLog(state: State): number {
  return 120 + 8 * (state as Log).entries.length
}

export const slidingLog: Algorithm<Log> = {
  fresh,
  take,
  spend,
  refund,
  remaining,
  freeAt,
  fullAt,
  delay: () => 0,
}

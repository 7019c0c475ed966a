// Sliding log with stamps: the strict sliding window in constant memory.
//
// Only the instant of each `grain`-th unit is kept, its stamp, with grain = ceil(quota / stamps). The units up to a stamp
// are a segment and count until one window after it, so that at most quota units lie in any interval of one window. At
// most grain - 1 units count although they are older: those of the oldest segment.
import type { Millis } from '../time/clock.ts'
import type { Algorithm, LimitNumbers, State } from './algorithm.ts'
import { ceilDiv, floorDiv } from './arithmetic.ts'

/**
 * `used` is what counts: the segments of `stamps` from `head` to `tail`, without the first `before` units of the oldest,
 * and the open units behind the last stamp. `last` is the instant of the newest unit, `at` the last instant at which
 * units were taken or handed back. Copies share the array: an append writes behind the tail, where no copy looks.
 *
 * The grain is that of the largest quota that has charged the count since it was empty: a larger one makes segments of
 * the old ones, each with the later instant; a smaller one leaves them.
 */
export interface StampedLog extends State {
  last: Millis
  grain: number
  stamps: Millis[]
  head: number
  tail: number
}

/** What a fast path reports instead of the whole: `at` is the newest instant, `before` the oldest stamp. */
type Ends = State & { readonly stamps?: undefined }

/** Dead stamps that may stand in front before the array is copied without them. */
const SLACK = 32

function grainOf({ quota, stamps = 1 }: LimitNumbers): number {
  return Math.max(1, ceilDiv(quota, stamps))
}

function fresh(limit: LimitNumbers, now: Millis): StampedLog {
  return {
    at: now,
    used: 0,
    before: 0,
    last: now,
    grain: grainOf(limit),
    stamps: [],
    head: 0,
    tail: 0,
  }
}

/** Units behind the last stamp. */
function openUnits(log: StampedLog): number {
  return log.used + log.before - log.grain * (log.tail - log.head)
}

function setStamps(log: StampedLog, stamps: Millis[]): void {
  log.stamps = stamps
  log.head = 0
  log.tail = stamps.length
}

function clear(log: StampedLog): void {
  log.used = 0
  log.before = 0
  log.head = log.tail
}

/** Drops what no longer counts at `now`. */
function prune(limit: LimitNumbers, log: StampedLog, now: Millis): void {
  const ahead = log.at - now
  if (ahead > limit.window) {
    setStamps(
      log,
      log.stamps.slice(log.head, log.tail).map((stamp) => stamp - ahead),
    )
    log.last -= ahead
    log.at = now
    return
  }
  const dead = Math.max(now, log.at) - limit.window
  if (log.last <= dead) return clear(log)
  while (log.head < log.tail && log.stamps[log.head]! <= dead) {
    log.used -= log.grain - log.before
    log.before = 0
    log.head += 1
  }
}

function take(limit: LimitNumbers, log: StampedLog, cost: number, now: Millis): boolean {
  prune(limit, log, now)
  const fits = cost === 0 || log.used + cost <= limit.quota
  if (fits && cost > 0) spend(limit, log, cost, now)
  return fits
}

function spend(limit: LimitNumbers, log: StampedLog, cost: number, now: Millis): void {
  const added = Math.min(cost, limit.quota)
  if (added === 0) return
  if (log.used === 0) {
    clear(log)
    log.grain = grainOf(limit)
    // The same as grainOf(limit) > log.grain, without a division.
  } else if (limit.quota > log.grain * (limit.stamps ?? 1)) coarsen(log, grainOf(limit))
  // Beyond full, the oldest units make room for the newest; what a larger limit counted stays as many.
  const excess = log.used + added - Math.max(limit.quota, log.used)
  if (excess > 0) dropOldest(log, excess)
  log.at = Math.max(now, log.at)
  log.last = log.at
  const open = openUnits(log) + added
  log.used += added
  if (open >= log.grain) append(log, floorDiv(open, log.grain))
}

/** Stamps the newest instant so many times. */
function append(log: StampedLog, times: number): void {
  if (log.head > SLACK && log.head > log.tail - log.head)
    setStamps(log, log.stamps.slice(log.head, log.tail))
  else if (log.stamps.length > log.tail) log.stamps = log.stamps.slice(0, log.tail)
  for (let i = 0; i < times; i++) log.stamps.push(log.last)
  log.tail += times
}

/** Makes larger segments: each ends with the old segment that holds its last unit. */
function coarsen(log: StampedLog, grain: number): void {
  const count = log.tail - log.head
  const stamps: Millis[] = []
  for (let units = grain; units <= log.used; units += grain) {
    const segment = ceilDiv(log.before + units, log.grain)
    stamps.push(segment > count ? log.last : log.stamps[log.head + segment - 1]!)
  }
  setStamps(log, stamps)
  log.before = 0
  log.grain = grain
}

/** Drops the oldest units. */
function dropOldest(log: StampedLog, units: number): void {
  const gone = log.before + units
  const segments = floorDiv(gone, log.grain)
  log.used -= units
  if (segments < log.tail - log.head) {
    log.head += segments
    log.before = gone - segments * log.grain
  } else {
    log.head = log.tail
    log.before = 0
  }
}

/**
 * Hands back units taken at `takenAt`. Those that are behind the last stamp, or the newest, go there. Of older ones whole
 * segments go that ended by then, and for the rest the oldest units: that never grants more, and gives back as much.
 */
function refund(
  limit: LimitNumbers,
  log: StampedLog,
  cost: number,
  now: Millis,
  takenAt: Millis,
): void {
  const instant = Math.max(now, log.at)
  log.at = instant
  if (log.used === 0 || takenAt <= instant - limit.window) return
  let ended = log.tail
  while (ended > log.head && log.stamps[ended - 1]! > takenAt) ended -= 1
  let left = cost
  if (ended === log.tail) {
    // The newest unit is not among those of an earlier instant.
    const open = openUnits(log)
    const back = Math.min(left, takenAt >= log.last ? open : Math.max(0, open - 1))
    log.used -= back
    left -= back
    if (open === back) return refundNewest(log, left)
  }
  refundOlder(log, ended, left)
}

/** Hands back the newest units, when none is behind the last stamp: a segment of which some go is open again. */
function refundNewest(log: StampedLog, cost: number): void {
  let left = Math.min(cost, log.used)
  while (left > 0) {
    const units = log.tail - log.head === 1 ? log.grain - log.before : log.grain
    const back = Math.min(left, units)
    log.tail -= 1
    log.last = log.stamps[log.tail]!
    log.used -= back
    left -= back
    if (log.head === log.tail) log.before = 0
    if (back < units) return
  }
  if (log.tail > log.head) log.last = log.stamps[log.tail - 1]!
}

/** Hands back units of the segments in front of `ended`, and of the one that was open then. */
function refundOlder(log: StampedLog, ended: number, cost: number): void {
  const before = ended > log.head ? log.grain * (ended - log.head) - log.before : 0
  const inNext = log.grain - (ended > log.head ? 0 : log.before) - 1
  const left = Math.min(cost, before + (ended < log.tail ? inNext : 0))
  const whole = Math.min(
    floorDiv(left, log.grain),
    Math.max(0, ended - log.head - (log.before > 0 ? 1 : 0)),
  )
  if (whole > 0) {
    const kept = log.stamps.slice(log.head, ended - whole)
    setStamps(log, kept.concat(log.stamps.slice(ended, log.tail)))
    log.used -= whole * log.grain
  }
  if (left > whole * log.grain) dropOldest(log, left - whole * log.grain)
}

function remaining(limit: LimitNumbers, state: State): number {
  return Math.max(0, limit.quota - state.used)
}

function freeAt(limit: LimitNumbers, state: StampedLog | Ends, cost: number): Millis {
  if (state.stamps === undefined) return state.before + limit.window
  // The oldest segments whose units together make the room.
  const segments = ceilDiv(state.used + cost - limit.quota + state.before, state.grain)
  const isOpen = segments > state.tail - state.head
  return (isOpen ? state.last : state.stamps[state.head + segments - 1]!) + limit.window
}

function fullAt(limit: LimitNumbers, state: StampedLog | Ends, now: Millis): Millis {
  if (state.used === 0) return now
  return (state.stamps === undefined ? state.at : state.last) + limit.window
}

/** Takes one unit if nothing has ceased to count and it fits: most takes of a hot key, without a division. */
function addOne(
  { quota, window, stamps = 1 }: LimitNumbers,
  log: StampedLog,
  now: Millis,
): boolean {
  const { at, used, grain, head, tail } = log
  const dead = (now > at ? now : at) - window
  if (at - now > window || used === 0 || used >= quota || quota > grain * stamps) return false
  if ((head < tail ? log.stamps[head]! : log.last) <= dead) return false
  if (now > at) log.at = now
  log.last = log.at
  log.used = used + 1
  if (used + 1 + log.before === grain * (tail - head + 1)) append(log, 1)
  return true
}

/**
 * Takes one unit in place and writes what the answer needs into `output`. A refusal leaves the state as it was, except
 * that it moves with a clock that was set back. Undefined, with nothing done, for a count above its quota.
 */
export function takeOneStamped(
  limit: LimitNumbers,
  state: State,
  now: Millis,
  output: State,
): boolean | undefined {
  const log = state as StampedLog
  if (log.used > limit.quota) return undefined
  const { at, used, before, head } = log
  const allowed = addOne(limit, log, now) || take(limit, log, 1, now)
  output.at = log.last
  output.used = log.used
  output.before = log.tail > log.head ? log.stamps[log.head]! : log.last
  if (!allowed && log.at >= at) {
    log.used = used
    log.before = before
    log.head = head
  }
  return allowed
}

/** What V8 needs for the state: the object, the array, and a number for each stamp. */
export function bytesOfStamps(state: State): number {
  return 160 + 8 * (state as StampedLog).stamps.length
}

export const stampedLog: Algorithm<StampedLog> = {
  fresh,
  take,
  spend,
  refund,
  remaining,
  freeAt,
  fullAt,
  delay: () => 0,
}

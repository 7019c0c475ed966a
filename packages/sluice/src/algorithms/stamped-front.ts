// The numbers of a sliding log with stamps that decide most takes of one unit, without a look at its instants.
import type { Millis } from '../time/clock.ts'
import type { Front, LimitNumbers, State } from './algorithm.ts'
import type { StampedLog } from './stamped-log.ts'

// Where each number lies. OLDEST is the oldest stamp, NONE without one, UNKNOWN if only the whole log can decide.
const AT = 0
const USED = 1
const OLDEST = 2
/** Units with which the next stamp is due. */
const DUE = 3
const GRAIN = 4

const NONE = Infinity
const UNKNOWN = -Infinity

function write(state: State, numbers: Float64Array, from: number): void {
  const log = state as StampedLog
  const { at, used, grain, head, tail } = log
  numbers[from + AT] = at
  numbers[from + USED] = used
  // `at` is later than the newest unit after a refund: one number cannot stand for both.
  const isKnown = used > 0 && log.last === at
  const oldest = tail > head ? log.stamps[head]! : NONE
  numbers[from + OLDEST] = isKnown ? oldest : UNKNOWN
  numbers[from + DUE] = grain * (tail - head + 1) - log.before
  numbers[from + GRAIN] = grain
}

function read(state: State, numbers: Float64Array, from: number): void {
  if (numbers[from + OLDEST] === UNKNOWN) return
  const log = state as StampedLog
  log.at = numbers[from + AT]!
  log.last = log.at
  log.used = numbers[from + USED]!
}

function takeOne(
  limit: LimitNumbers,
  numbers: Float64Array,
  from: number,
  now: Millis,
  output: State,
): boolean | undefined {
  const at = numbers[from + AT]!
  const used = numbers[from + USED]!
  const stamp = numbers[from + OLDEST]!
  const newest = now > at ? now : at
  const oldest = stamp === NONE ? at : stamp
  // Something no longer counts, or the clock was set back.
  if (oldest <= newest - limit.window || at - now > limit.window) return undefined
  if (used === limit.quota) {
    output.at = at
    output.used = used
    output.before = oldest
    return false
  }
  if (used > limit.quota || used + 1 >= numbers[from + DUE]!) return undefined
  if (limit.quota > numbers[from + GRAIN]! * (limit.stamps ?? 1)) return undefined
  numbers[from + AT] = newest
  numbers[from + USED] = used + 1
  output.at = newest
  output.used = used + 1
  output.before = stamp === NONE ? newest : stamp
  return true
}

export const stampedFront: Front = { numbers: 5, write, read, takeOne }

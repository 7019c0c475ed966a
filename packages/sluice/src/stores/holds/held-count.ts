// The arithmetic of a count with units out: the algorithm counts what is spent, and what is out takes room beside it.
//
// Admission asks the algorithm whether cost + out fits beside what is spent. So units that are out never drain, and a new
// window begins with them. Whole numbers throughout; redis/lua/holds.lua has the same functions, line for line.
import type { AlgorithmRow, State } from '../../algorithms/algorithm.ts'
import { algorithmOf } from '../../algorithms/table.ts'
import type { Limit } from '../../limit/limit.ts'
import type { Millis } from '../../time/clock.ts'
import type { Check, Hold } from '../store.ts'
import type { SettledStatus, Settlement } from './hold-store.ts'

/** The largest product of units and window that is exact in every step. */
const MAX_PRODUCT = 2 ** 52
/** Milliseconds for which a settled hold is remembered, so that a second settlement charges nothing. */
const SETTLED_KEPT = 10_000
/** Milliseconds between two searches for closed holds to forget. */
const PURGE_INTERVAL = 10_000

/** Leases of one count from which on ended ones are searched this often, in milliseconds, and not at each call. */
const CROWD = 64
const CROWD_INTERVAL = 50

/** `free` and `spent` are out, with what their end does. `ended` and `settled` are closed, and take no room. */
type HoldStatus = 'free' | 'spent' | 'ended' | 'settled'

/** One hold of a count. */
interface HoldRecord {
  status: HoldStatus
  /** Units that are out; of a settled hold, units that were charged. */
  units: number
  /** When it ends; of a closed hold, when it may be forgotten. */
  end: Millis
  late: Millis
}

/** The numbers of a count with holds, without the holds themselves. */
export interface HeldNumbers {
  /** What is spent, as the algorithm counts it. */
  readonly state: State
  /** Units that are out. */
  out: number
  /** Those of them that are spent at their end. */
  leased: number
  /** No hold ends before; 0 when nothing is out. */
  nextEnd: Millis
  /** Every hold has ended by then; 0 when nothing is out. */
  lastEnd: Millis
}

/** A count with its holds. */
export interface HeldCount extends HeldNumbers {
  /** When closed holds are searched next; 0 when there is none. */
  nextPurge: Millis
  /** Closed holds must be found until then. */
  keptUntil: Millis
  readonly holds: Map<string, HoldRecord>
}

/** A count that nothing is known of. */
export function freshHeld(limit: Limit, now: Millis): HeldCount {
  return {
    state: algorithmOf(limit).fresh(limit, now),
    out: 0,
    leased: 0,
    nextEnd: 0,
    lastEnd: 0,
    nextPurge: 0,
    keptUntil: 0,
    holds: new Map(),
  }
}

/** A copy that shares nothing with the count. */
export function cloneOf(count: HeldCount): HeldCount {
  const holds = new Map([...count.holds].map(([id, hold]) => [id, { ...hold }]))
  return { ...count, state: { ...count.state }, holds }
}

/**
 * The limit with as much room as numbers allow. Under it the algorithm counts debts too, and a cost that fits its own
 * limit beside `out` fits here together with {@link headroom} and `out`.
 */
export function raisedLimit(limit: Limit): Limit {
  const burst = Math.max(limit.burst, Math.floor(MAX_PRODUCT / limit.window))
  return { ...limit, burst, quota: algorithmOf(limit).hasBurst ? limit.quota : burst }
}

/** The cost under the raised limit that stands for this cost beside what is out. */
export function raisedCost(limit: Limit, raised: Limit, out: number, cost: number): number {
  return cost + out + raised.burst - limit.burst
}

/** Lets time pass: ends holds, and forgets closed ones. Returns the count's own instant, which never goes back. */
export function advanceHeld(limit: Limit, count: HeldCount, now: Millis): Millis {
  const algorithm = algorithmOf(limit)
  const { state } = count
  const { at } = state
  if (now < at) {
    algorithm.take(limit, state, 0, now)
    // The clock was set back, and the state moved with it.
    if (state.at < at) shift(count, at - state.at)
  }
  const own = Math.max(now, state.at)
  const isDue = count.nextEnd > 0 && own >= count.nextEnd
  if (isDue || (count.nextPurge > 0 && own >= count.nextPurge)) sweep(algorithm, limit, count, own)
  algorithm.take(limit, state, 0, own)
  return own
}

function shift(count: HeldCount, by: Millis): void {
  if (count.nextEnd > 0) count.nextEnd = Math.max(1, count.nextEnd - by)
  if (count.lastEnd > 0) count.lastEnd = Math.max(1, count.lastEnd - by)
  if (count.nextPurge > 0) count.nextPurge = Math.max(1, count.nextPurge - by)
  count.keptUntil = Math.max(0, count.keptUntil - by)
  for (const hold of count.holds.values()) hold.end = Math.max(1, hold.end - by)
}

function sweep(algorithm: AlgorithmRow, limit: Limit, count: HeldCount, now: Millis): void {
  const ended: [string, HoldRecord][] = []
  let nextEnd = 0
  let isClosed = false
  for (const [id, hold] of count.holds) {
    const isOver = hold.end <= now
    if (isOut(hold)) {
      if (isOver) ended.push([id, hold])
      else nextEnd = nextEnd === 0 ? hold.end : Math.min(nextEnd, hold.end)
    } else if (isOver) count.holds.delete(id)
    else isClosed = true
  }
  const raised = raisedLimit(limit)
  for (const [id, hold] of ended.toSorted(([, a], [, b]) => a.end - b.end)) {
    const { units, end, late } = hold
    count.out -= units
    if (hold.status === 'spent') {
      // Spent at its end, so that the count does not depend on when it is looked at.
      count.leased -= units
      spendLeased(limit, raised, count.state, units, end)
    }
    if (hold.status === 'free' && end + late > now) {
      hold.status = 'ended'
      hold.units = 0
      hold.end = end + late
      isClosed = true
    } else count.holds.delete(id)
  }
  // With many leases one ends at nearly every call. They take room until they are looked at, so later is safe.
  // Not so in windows, where all leases end at the edge and would be charged to the next one.
  const isCrowded = algorithm.hasBurst && count.holds.size > CROWD && count.leased === count.out
  count.nextEnd = isCrowded ? Math.max(nextEnd, now + CROWD_INTERVAL) : nextEnd
  if (count.out === 0) count.nextEnd = count.lastEnd = 0
  count.nextPurge = isClosed ? now + PURGE_INTERVAL : 0
}

/** Spends what was leased until an instant. A lease that ends with its window was spent in that window. */
function spendLeased(limit: Limit, raised: Limit, state: State, units: number, end: Millis): void {
  const algorithm = algorithmOf(limit)
  const last = algorithm.isAligned ? end - 1 : end
  algorithm.take(limit, state, 0, last)
  algorithm.spend(raised, state, units, last)
}

/** Whether a cost fits beside what is spent and out. The count has advanced to `now`. */
export function fitsHeld(limit: Limit, numbers: HeldNumbers, cost: number, now: Millis): boolean {
  if (cost === 0) return true
  return roomOf(limit, numbers, now) >= cost
}

/** Units that would fit; below 0 by the debt. */
export function roomOf(limit: Limit, { state, out }: HeldNumbers, now: Millis): number {
  const raised = raisedLimit(limit)
  return algorithmOf(limit).remaining(raised, state, now) - raisedCost(limit, raised, out, 0)
}

/** Spends units at once, as many as the raised limit can count. */
export function spendHeld(limit: Limit, { state }: HeldNumbers, units: number, now: Millis): void {
  algorithmOf(limit).spend(raisedLimit(limit), state, units, now)
}

/**
 * A part of the room, of the cost at most. For a fair hold: the room divided by twice the holders, with this one among
 * them. Without a hold: all of it.
 */
export function grantablePart({ limit, cost, hold }: Check, count: HeldCount, now: Millis): number {
  if (hold === undefined) return Math.max(0, Math.min(cost, roomOf(limit, count, now)))
  let holders = 1
  for (const [id, other] of count.holds) if (id !== hold.id && isOut(other)) holders += 1
  return Math.max(0, Math.min(cost, Math.floor(roomOf(limit, count, now) / (2 * holders))))
}

/** Sends units out. They fit. */
export function holdUnits(
  limit: Limit,
  count: HeldCount,
  units: number,
  hold: Hold,
  now: Millis,
): void {
  const { id, onEnd, late = 0 } = hold
  const known = count.holds.get(id)
  const isMore = known !== undefined && isOut(known)
  const life = onEnd === 'spent' ? lifeWithin(limit, hold.life, now) : hold.life
  const end = isMore ? Math.max(known.end, now + life) : now + life
  const total = isMore ? known.units + units : units
  const status = isMore ? known.status : onEnd
  count.holds.set(id, { status, units: total, end, late })
  count.out += units
  if (status === 'spent') count.leased += units
  noteEnd(count, end, late)
  spendHeld(limit, count, 0, now)
}

/** How long units may be leased at `now`: at most to the edge of their window. */
export function lifeWithin(limit: Limit, life: Millis, now: Millis): Millis {
  if (!algorithmOf(limit).isAligned) return life
  return Math.min(life, limit.window - (now % limit.window))
}

/** What {@link settleHeld} did. */
export interface Booked {
  readonly status: SettledStatus
  readonly charged: number
  readonly kept: number
  readonly endsAt: Millis
}

const ENDED: Booked = { status: 'late', charged: 0, kept: 0, endsAt: 0 }
const UNKNOWN: Booked = { status: 'unknown', charged: 0, kept: 0, endsAt: 0 }

/** Books what became of a hold. The count has advanced to `now`. */
export function settleHeld(
  limit: Limit,
  count: HeldCount,
  settlement: Settlement,
  now: Millis,
): Booked {
  const { id, spent, life, debt = 0 } = settlement
  const hold = count.holds.get(id)
  if (hold === undefined) return UNKNOWN
  if (hold.status === 'settled')
    return { status: 'repeated', charged: hold.units, kept: 0, endsAt: 0 }
  const wasOut = isOut(hold)
  // To extend what has ended moves nothing: it stays to be settled.
  if (!wasOut && spent === 0 && settlement.keep > 0) return ENDED
  const units = hold.units
  // What was out and spent is charged whatever the limit is by now.
  const firm = Math.min(spent, units)
  const kept = Math.min(settlement.keep, units - firm)
  count.out -= units - kept
  if (hold.status === 'spent') count.leased -= units - kept
  const room = spent > firm ? roomOf(limit, count, now) + debt : 0
  const charged = Math.min(spent, Math.max(firm, room))
  spendHeld(limit, count, charged, now)
  if (kept > 0) {
    hold.units = kept
    if (life !== undefined) hold.end = now + life
    noteEnd(count, hold.end, hold.late)
  } else if (hold.late > 0) {
    hold.status = 'settled'
    hold.units = charged
    hold.end = now + Math.min(hold.late, SETTLED_KEPT)
    if (count.nextPurge === 0) count.nextPurge = hold.end
    count.keptUntil = Math.max(count.keptUntil, hold.end)
  } else count.holds.delete(id)
  if (count.out === 0) count.nextEnd = count.lastEnd = 0
  return { status: wasOut ? 'settled' : 'late', charged, kept, endsAt: kept > 0 ? hold.end : 0 }
}

/** When the count is as good as new if nothing is settled. */
export function fullAtHeld(limit: Limit, numbers: HeldNumbers, now: Millis): Millis {
  const algorithm = algorithmOf(limit)
  const { leased, lastEnd } = numbers
  const state = leased > 0 ? stateAtLastEnd(limit, numbers) : { ...numbers.state }
  return Math.max(lastEnd, algorithm.fullAt(limit, state, now))
}

/** What will be spent when every lease has ended, if none is settled before. */
export function stateAtLastEnd(limit: Limit, { state, leased, lastEnd }: HeldNumbers): State {
  const later = { ...state }
  spendLeased(limit, raisedLimit(limit), later, leased, lastEnd)
  return later
}

function noteEnd(count: HeldCount, end: Millis, late: Millis): void {
  count.nextEnd = count.nextEnd === 0 ? end : Math.min(count.nextEnd, end)
  count.lastEnd = Math.max(count.lastEnd, end)
  if (late > 0) count.keptUntil = Math.max(count.keptUntil, end + late)
}

function isOut({ status }: HoldRecord): boolean {
  return status === 'free' || status === 'spent'
}

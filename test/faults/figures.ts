// What became of the requests of one scenario through one client, as numbers.
import type { Charge } from './charges.ts'
import { ALLOWED, DEGRADED, FAILED, type Orders, type PodRecord } from './orders.ts'
import { recoveryOf } from './recovery.ts'

/** When the fault began and ended, by the lab's clock, and how far the epoch is from it. */
export interface Times {
  readonly begin: number
  readonly back: number
  /** Milliseconds since the epoch minus the lab's clock. */
  readonly epoch: number
  readonly others: readonly Held[]
}

export interface Figures {
  readonly requests: number
  /** Rejected checks, unhandled rejections and exceptions, and requests that were never answered. */
  readonly errors: number
  readonly errorTexts: readonly string[]
  /** Requests that the fallback answered. */
  readonly fallback: number
  /** Why it did. */
  readonly causes: Readonly<Record<string, number>>
  /** Milliseconds after which the store gave calls up. */
  readonly deadline: number
  readonly longestWait: number
  /** The longest wait without the time for which the pod's own event loop stood still, in which it cannot answer. */
  readonly ownWait: number
  /** The median of such waits from 300 ms after the beginning of the fault to its end. */
  readonly medianWait: number
  /** The longest standstill of the pod's own event loop. */
  readonly stoodStill: number
  /** Units of the hot key that the store admitted before the fault. */
  readonly spentBefore: number
  /** Units of the hot key that anybody admitted from the beginning of the fault to its end, and the fallback later. */
  readonly admittedInFault: number
  /** Units of the hot key that the store admitted after the fault. */
  readonly admittedAfter: number
  /** Units of the hot key that the store admitted in the fault or after it. */
  readonly byStore: number
  /** Units of the hot key that the fallback admitted at any time. */
  readonly byFallback: number
  /** Of those, the ones that the same limiter was refused by the store, for longer than until then. */
  readonly againstRefusal: number
  /** One-shot keys charged when their caller had been answered by the fallback and the call's deadline had passed. */
  readonly stale: number
  /** Units charged to one-shot keys beyond the one that was asked for. */
  readonly double: number
  /** One-shot keys charged in time, the answer of which did not arrive in time. */
  readonly unheard: number
  /** One-shot keys that the store admitted and that are not charged. */
  readonly lost: number
  /** One-shot keys admitted by the fallback. */
  readonly uncharged: number
  /** From the store's return until it answers again, or null when it never did. */
  readonly recovery: number | null
  readonly others: readonly Held[]
}

/** A figure that one scenario alone has. */
export interface Held {
  readonly what: string
  readonly value: number
  readonly most: number
  /** It depends on how fast the machine is, as times do. */
  readonly isTimed?: boolean
}

const OPENING = 300
/** Milliseconds by which instants of two clocks, both rounded, may differ. */
const ROUNDING = 3

/** The figures of one pod. */
export function figuresOf(
  { timeout }: Orders,
  record: PodRecord,
  charges: readonly Charge[],
  times: Times,
): Figures {
  const { at, wait, answer, key } = record
  const { begin, back, epoch } = times
  const tally = { errors: 0, fallback: 0 }
  const hot = { spentBefore: 0, admittedInFault: 0, admittedAfter: 0, byStore: 0, byFallback: 0 }
  const shots = { stale: 0, double: 0, unheard: 0, lost: 0, uncharged: 0 }
  let longestWait = 0
  let ownWait = 0
  const waits: number[] = []
  for (let i = 0; i < at.length; i++) {
    const is = (bit: number): boolean => (answer[i]! & bit) !== 0
    if (is(FAILED)) tally.errors += 1
    if (is(DEGRADED)) tally.fallback += 1
    longestWait = Math.max(longestWait, wait[i]!)
    const isInFault = at[i]! >= begin + OPENING && at[i]! < back
    if (isInFault || wait[i]! > ownWait) {
      const own = wait[i]! - stillWithin(record.still, at[i]!, wait[i]!)
      ownWait = Math.max(ownWait, own)
      if (isInFault) waits.push(own)
    }
    if (key[i]! < 0) {
      if (!is(ALLOWED)) continue
      if (is(DEGRADED)) hot.byFallback += 1
      else if (at[i]! < begin) hot.spentBefore += 1
      else hot.byStore += 1
      if (at[i]! < begin) continue
      if (at[i]! < back || is(DEGRADED)) hot.admittedInFault += 1
      else hot.admittedAfter += 1
      continue
    }
    const charge = charges[key[i]!]!
    shots.double += Math.max(0, charge.units - 1)
    if (is(DEGRADED) || is(FAILED)) {
      const over = at[i]! + Math.max(wait[i]!, timeout) + epoch
      if (charge.units > 0 && charge.at > over + ROUNDING) shots.stale += 1
      else if (charge.units > 0) shots.unheard += 1
      else if (is(ALLOWED)) shots.uncharged += 1
    } else if (is(ALLOWED) && charge.units === 0) shots.lost += 1
  }
  return {
    requests: at.length,
    errors: tally.errors + record.unhandled.length,
    errorTexts: [...record.errors, ...record.unhandled].slice(0, 5),
    fallback: tally.fallback,
    causes: record.causes,
    deadline: timeout,
    longestWait,
    medianWait: median(waits),
    ownWait,
    stoodStill: longest(record.still),
    ...hot,
    againstRefusal: record.againstRefusal,
    ...shots,
    recovery: recoveryOf(record, back),
    others: times.others,
  }
}

/** Milliseconds of a wait in which the event loop stood still. */
function stillWithin(still: Float64Array, at: number, wait: number): number {
  let sum = 0
  for (let i = 0; i < still.length; i += 2) {
    const overlap = Math.min(still[i + 1]!, at + wait) - Math.max(still[i]!, at)
    if (overlap > 0) sum += overlap
  }
  return sum
}

function longest(still: Float64Array): number {
  let most = 0
  for (let i = 0; i < still.length; i += 2) most = Math.max(most, still[i + 1]! - still[i]!)
  return most
}

function median(numbers: number[]): number {
  numbers.sort((a, b) => a - b)
  return numbers[numbers.length >> 1] ?? 0
}

function added(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): Record<string, number> {
  const sum = { ...a }
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count
  return sum
}

/** The figures of several pods of one scenario as one. */
export function together(all: readonly Figures[]): Figures {
  const sum = (pick: (one: Figures) => number): number => all.reduce((n, one) => n + pick(one), 0)
  const most = (pick: (one: Figures) => number): number => Math.max(...all.map(pick))
  return {
    requests: sum((one) => one.requests),
    errors: sum((one) => one.errors),
    errorTexts: all.flatMap((one) => one.errorTexts).slice(0, 5),
    fallback: sum((one) => one.fallback),
    causes: all.reduce((causes, one) => added(causes, one.causes), {}),
    deadline: most((one) => one.deadline),
    longestWait: most((one) => one.longestWait),
    medianWait: most((one) => one.medianWait),
    ownWait: most((one) => one.ownWait),
    stoodStill: most((one) => one.stoodStill),
    spentBefore: sum((one) => one.spentBefore),
    admittedInFault: sum((one) => one.admittedInFault),
    admittedAfter: sum((one) => one.admittedAfter),
    byStore: sum((one) => one.byStore),
    byFallback: sum((one) => one.byFallback),
    againstRefusal: sum((one) => one.againstRefusal),
    stale: sum((one) => one.stale),
    double: sum((one) => one.double),
    unheard: sum((one) => one.unheard),
    lost: sum((one) => one.lost),
    uncharged: sum((one) => one.uncharged),
    recovery: all.some((one) => one.recovery === null) ? null : most((one) => one.recovery ?? 0),
    others: addedHeld(all.map((one) => one.others)),
  }
}

/** Figures that each pod measured are added; those of the scenario are the same objects in all pods, and count once. */
function addedHeld(all: readonly (readonly Held[])[]): Held[] {
  const sums = new Map<string, Held>()
  for (const held of new Set(all.flat())) {
    const { value, most } = sums.get(held.what) ?? { value: 0, most: 0 }
    sums.set(held.what, { ...held, value: value + held.value, most: most + held.most })
  }
  return [...sums.values()]
}

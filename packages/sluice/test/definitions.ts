// What each algorithm means, said from the history of a count instead of from a clever state.
//
// Nothing here is shared with the library, and nothing is stored but what happened: which cost was
// admitted when, and what was handed back. All numbers are BigInt, so nothing is ever rounded.
import type { AlgorithmName, Limit } from '../src/limit/limit.ts'
import type { Millis } from '../src/time/clock.ts'

/** A limit in exact numbers. */
export interface ExactLimit {
  readonly quota: bigint
  readonly window: bigint
  readonly burst: bigint
}

/** Units that were taken at an instant; below zero for what a bucket was handed back. */
export interface Entry {
  readonly at: bigint
  readonly units: bigint
}

/** The most that may be admitted from the instant `from` to the instant `to`, both included; times the window. */
export type Bound = (limit: Limit, from: Millis, to: Millis) => bigint

/** One algorithm by its definition. `t` is never before the last entry. */
export interface Definition {
  /** What the algorithm promises for any interval. */
  readonly bound: Bound
  /** How long a count that is just full takes to be empty, at most. */
  emptyAfter(limit: Limit): Millis
  /** Whether an allowed request waits until the work in front of it has drained. */
  readonly holds?: boolean
  /** What one unit of cost weighs in an entry. */
  weight(limit: ExactLimit): bigint
  /** An instant as a count remembers it: itself, or the start of its window. */
  remembered(limit: ExactLimit, at: bigint): bigint
  /** Whether a cost above 0 may be taken at `t`. */
  admits(limit: ExactLimit, history: readonly Entry[], cost: bigint, t: bigint): boolean
  /** The history after units taken at `takenAt` were handed back at `t`. */
  given(
    limit: ExactLimit,
    history: readonly Entry[],
    cost: bigint,
    t: bigint,
    takenAt: bigint,
  ): readonly Entry[]
}

/** At most so many units in any half-open interval of one window's length. */
const spanned = (units: (quota: bigint) => bigint): Bound => {
  return ({ quota, window }, from, to) => {
    const spans = BigInt(Math.floor((to - from) / window)) + 1n
    return units(BigInt(quota)) * spans * BigInt(window)
  }
}

/** The history without up to `cost` units of the entries that match, the newest first. */
function without(
  history: readonly Entry[],
  cost: bigint,
  matches: (entry: Entry) => boolean,
): readonly Entry[] {
  let left = cost
  const kept: Entry[] = []
  for (const entry of history.toReversed()) {
    const back = matches(entry) ? (left < entry.units ? left : entry.units) : 0n
    left -= back
    if (entry.units > back) kept.push({ at: entry.at, units: entry.units - back })
  }
  return kept.toReversed()
}

const sumOf = (history: readonly Entry[], counts: (entry: Entry) => boolean): bigint =>
  history.reduce((sum, entry) => (counts(entry) ? sum + entry.units : sum), 0n)

/** The number of the aligned window that holds an instant, which may lie before the epoch. */
const windowOf = ({ window }: ExactLimit, at: bigint): bigint =>
  at >= 0n ? at / window : (at + 1n) / window - 1n

const aligned: Omit<Definition, 'admits' | 'bound' | 'emptyAfter'> = {
  weight: () => 1n,
  remembered: (limit, at) => windowOf(limit, at) * limit.window,
  given(limit, history, cost, t, takenAt) {
    const taken = windowOf(limit, takenAt < t ? takenAt : t)
    return without(history, cost, ({ at }) => windowOf(limit, at) === taken)
  },
}

const fixedWindow: Definition = {
  ...aligned,
  bound: spanned((quota) => 2n * quota),
  emptyAfter: ({ window }) => window,
  admits(limit, history, cost, t) {
    const now = windowOf(limit, t)
    return sumOf(history, ({ at }) => windowOf(limit, at) === now) + cost <= limit.quota
  },
}

const slidingWindow: Definition = {
  ...aligned,
  bound: spanned((quota) => 2n * quota - 1n),
  emptyAfter: ({ window }) => 2 * window,
  admits(limit, history, cost, t) {
    // The previous window counts by the part of it that is less than one window old.
    const now = windowOf(limit, t)
    const part = limit.window - (t % limit.window)
    const previous = sumOf(history, ({ at }) => windowOf(limit, at) === now - 1n)
    const current = sumOf(history, ({ at }) => windowOf(limit, at) === now)
    return previous * part + (current + cost) * limit.window <= limit.quota * limit.window
  },
}

const slidingLog: Definition = {
  bound: spanned((quota) => quota),
  emptyAfter: ({ window }) => window,
  weight: () => 1n,
  remembered: (_limit, at) => at,
  admits: (limit, history, cost, t) =>
    sumOf(history, ({ at }) => t - limit.window < at && at <= t) + cost <= limit.quota,
  given: (limit, history, cost, t, takenAt) =>
    without(history, cost, ({ at }) => t - limit.window < at && at <= takenAt),
}

/**
 * A bucket is its promise and nothing else: from any admission on, no more than the burst and what
 * the rate adds. The worst of these intervals is the level; it falls by `quota` per millisecond.
 */
const levels = new WeakMap<readonly Entry[], bigint>()
function levelAt({ quota }: ExactLimit, history: readonly Entry[], t: bigint): bigint {
  let worst = levels.get(history)
  if (worst === undefined) {
    let since = 0n
    worst = 0n
    for (const { at, units } of history.toReversed()) {
      since += units
      if (since + quota * at > worst) worst = since + quota * at
    }
    levels.set(history, worst)
  }
  const level = worst - quota * t
  return level > 0n ? level : 0n
}

const bucket: Definition = {
  bound: ({ quota, window, burst }, from, to) =>
    BigInt(burst) * BigInt(window) + BigInt(to - from) * BigInt(quota),
  emptyAfter: ({ quota, window, burst }) => Math.ceil((burst / quota) * window) + 1,
  weight: ({ window }) => window,
  remembered: (_limit, at) => at,
  admits: (limit, history, cost, t) =>
    levelAt(limit, history, t) + cost * limit.window <= limit.burst * limit.window,
  given(limit, history, cost, t, takenAt) {
    const drained = t > takenAt ? (t - takenAt) * limit.quota : 0n
    const back = cost * limit.window - drained
    return back > 0n ? [...history, { at: t, units: -back }] : history
  },
}

/** The definition of each algorithm. */
export const definitions: Readonly<Record<AlgorithmName, Definition>> = {
  'token-bucket': bucket,
  gcra: bucket,
  'leaky-bucket': { ...bucket, holds: true },
  'fixed-window': fixedWindow,
  'sliding-window': slidingWindow,
  'sliding-log': slidingLog,
}

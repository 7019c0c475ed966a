// What a limit may admit, checked over a record of everything that a fleet has admitted. Shares no code with the library.

/** One admitted request: when, and how many units. */
export interface Admitted {
  readonly at: number
  readonly cost: number
}

/** The numbers of a limit that a bound needs. */
export interface BoundedLimit {
  readonly algorithm: string
  readonly quota: number
  readonly window: number
  readonly burst: number
}

/** The worst excess over the bound, and where it was: 0 or less when the bound holds. */
export interface Excess {
  readonly units: number
  readonly at: number
}

/** The worst excess of a record over the bound of its limit, over all spans. */
export function excessOf(limit: BoundedLimit, record: readonly Admitted[]): Excess {
  const sorted = record.toSorted((a, b) => a.at - b.at)
  if (limit.algorithm === 'fixed-window') return excessOfWindows(limit, sorted)
  if (limit.algorithm === 'sliding-window')
    return worse(
      excessOfWindows(limit, sorted),
      excessOfSpans(limit, sorted, Math.max(limit.quota, 2 * limit.quota - 1)),
    )
  if (limit.algorithm === 'sliding-log') return excessOfSpans(limit, sorted, limit.quota)
  return excessOfBucket(limit, sorted)
}

/**
 * Any span of length T admits at most burst + rate * T. The largest excess over all spans that end at a request is
 * found in one pass: what came before either adds to it, or the span begins here.
 */
function excessOfBucket(
  { quota, window, burst }: BoundedLimit,
  record: readonly Admitted[],
): Excess {
  let level = 0
  let last = -Infinity
  let worst: Excess = { units: -Infinity, at: 0 }
  for (const { at, cost } of record) {
    level = Math.max(0, level - ((at - last) * quota) / window) + cost
    last = at
    worst = worse(worst, { units: level - burst, at })
  }
  return worst
}

/** Each window aligned to the epoch admits at most the quota. */
function excessOfWindows({ quota, window }: BoundedLimit, record: readonly Admitted[]): Excess {
  const sums = new Map<number, number>()
  let worst: Excess = { units: -Infinity, at: 0 }
  for (const { at, cost } of record) {
    const index = Math.floor(at / window)
    const sum = (sums.get(index) ?? 0) + cost
    sums.set(index, sum)
    worst = worse(worst, { units: sum - quota, at })
  }
  return worst
}

/** Any span of one window admits at most so much. */
function excessOfSpans(
  { window }: BoundedLimit,
  record: readonly Admitted[],
  most: number,
): Excess {
  let worst: Excess = { units: -Infinity, at: 0 }
  let sum = 0
  let first = 0
  for (const { at, cost } of record) {
    sum += cost
    while (record[first]!.at <= at - window) sum -= record[first++]!.cost
    worst = worse(worst, { units: sum - most, at })
  }
  return worst
}

function worse(a: Excess, b: Excess): Excess {
  return b.units > a.units ? b : a
}

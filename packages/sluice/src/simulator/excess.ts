// By how much a record of admitted units exceeds a limit: over all spans of any length, not by sampling windows.
import { algorithmOf } from '../algorithms/table.ts'
import type { Limit } from '../limit/limit.ts'
import type { Millis } from '../time/clock.ts'

/**
 * Units of one key that were admitted at an instant. Records are given in order of time.
 *
 * @example
 * ```ts
 * const admitted: Admitted[] = [{ at: 0, cost: 60 }, { at: 500, cost: 60 }]
 * ```
 */
export interface Admitted {
  readonly at: Millis
  readonly cost: number
}

/**
 * The most units by which any span exceeds what the limit admits; 0 if none does. Buckets: burst + rate × T in every
 * span T. Sliding log: the quota in every span of one window. Windows: the quota in every aligned window.
 *
 * @example
 * ```ts
 * const excess = excessOf(limit('100/min'), [{ at: 0, cost: 120 }]) // 20
 * ```
 */
export function excessOf(limit: Limit, admitted: readonly Admitted[]): number {
  let worst = 0
  for (const { units } of excesses(limit, admitted)) worst = Math.max(worst, units)
  return worst
}

/** In order of time: answers of the store may overtake each other on their way. */
export function inOrder<A extends Admitted>(admitted: readonly A[]): readonly A[] {
  return admitted.toSorted((a, b) => a.at - b.at)
}

/** The excess of the worst span that ends with some admitted units; 0 or less if none exceeds the limit. */
export interface Excess {
  readonly at: Millis
  readonly units: number
}

/** The excess after every unit that was admitted, in order of time. */
export function excesses(limit: Limit, admitted: readonly Admitted[]): Iterable<Excess> {
  if (algorithmOf(limit).hasBurst) return bucketExcesses(limit, admitted)
  return limit.algorithm === 'sliding-log'
    ? logExcesses(limit, admitted)
    : windowExcesses(limit, admitted)
}

/** A bucket that takes everything and drains at the rate: its level is the worst of all spans that end there. */
function* bucketExcesses(
  { quota, window, burst }: Limit,
  admitted: readonly Admitted[],
): Generator<Excess, void> {
  let [level, before] = [0, 0]
  for (const { at, cost } of admitted) {
    level = Math.max(0, level - (at - before) * quota) + cost * window
    before = at
    yield { at, units: Math.ceil((level - burst * window) / window) }
  }
}

function* logExcesses(
  { quota, window }: Limit,
  admitted: readonly Admitted[],
): Generator<Excess, void> {
  for (const { at, units } of sums(window, admitted)) yield { at, units: units - quota }
}

/** The most units that were admitted in any span of one length; its end does not belong to it. */
export function mostWithin(span: Millis, admitted: readonly Admitted[]): number {
  let highest = 0
  for (const { units } of sums(span, admitted)) highest = Math.max(highest, units)
  return highest
}

/** The units of the span of one length that ends with each of the admitted. */
function* sums(span: Millis, admitted: readonly Admitted[]): Generator<Excess, void> {
  let [sum, first] = [0, 0]
  for (const { at, cost } of admitted) {
    sum += cost
    for (; admitted[first]!.at <= at - span; first++) sum -= admitted[first]!.cost
    yield { at, units: sum }
  }
}

function* windowExcesses(
  { quota, window }: Limit,
  admitted: readonly Admitted[],
): Generator<Excess, void> {
  let [sum, current] = [0, -1]
  for (const { at, cost } of admitted) {
    const number = Math.floor(at / window)
    sum = number === current ? sum + cost : cost
    current = number
    yield { at, units: sum - quota }
  }
}

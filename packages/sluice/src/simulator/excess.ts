// By how much a record of admitted units exceeds a limit: over all spans of any length, not by sampling windows.
import { algorithmOf } from '../algorithms/table.ts'
import type { Limit } from '../limit/limit.ts'
import type { Millis } from '../time/clock.ts'

/** Units of one key that were admitted at an instant. Records are given in order of time. */
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
  if (algorithmOf(limit).hasBurst) return bucketExcess(limit, admitted)
  return limit.algorithm === 'sliding-log'
    ? logExcess(limit, admitted)
    : windowExcess(limit, admitted)
}

/** A bucket that takes everything and drains at the rate: its highest level is the worst of all spans. */
function bucketExcess({ quota, window, burst }: Limit, admitted: readonly Admitted[]): number {
  let [level, highest, before] = [0, 0, 0]
  for (const { at, cost } of admitted) {
    level = Math.max(0, level - (at - before) * quota) + cost * window
    before = at
    highest = Math.max(highest, level)
  }
  return Math.max(0, Math.ceil((highest - burst * window) / window))
}

function logExcess({ quota, window }: Limit, admitted: readonly Admitted[]): number {
  return Math.max(0, mostWithin(window, admitted) - quota)
}

/** The most units that were admitted in any span of one length; its end does not belong to it. */
export function mostWithin(span: Millis, admitted: readonly Admitted[]): number {
  let [sum, highest, first] = [0, 0, 0]
  for (const { at, cost } of admitted) {
    sum += cost
    for (; admitted[first]!.at <= at - span; first++) sum -= admitted[first]!.cost
    highest = Math.max(highest, sum)
  }
  return highest
}

function windowExcess({ quota, window }: Limit, admitted: readonly Admitted[]): number {
  let [sum, highest, current] = [0, 0, -1]
  for (const { at, cost } of admitted) {
    const number = Math.floor(at / window)
    sum = number === current ? sum + cost : cost
    current = number
    highest = Math.max(highest, sum)
  }
  return Math.max(0, highest - quota)
}

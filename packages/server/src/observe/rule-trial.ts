// What a limit on trial, or a shadow rule, would have changed.
import type { Attributes } from 'sluice'
import { HyperLogLog } from '../metrics/hyper-log-log.ts'
import { hash32, keptKey, type NamedKey } from './keys.ts'
import { SpaceSaving } from './space-saving.ts'

/** Places of the sketch of keys that would be newly refused. */
const PLACES = 50

/** How often an enforced answer and one on trial agreed or differed. */
export interface Divergence {
  readonly bothAllow: number
  readonly bothRefuse: number
  readonly newlyRefused: number
  readonly newlyAllowed: number
}

/** The way in which two answers agree or differ. */
function divergenceOf(enforced: boolean, onTrial: boolean): keyof Divergence {
  if (enforced) return onTrial ? 'bothAllow' : 'newlyRefused'
  return onTrial ? 'newlyAllowed' : 'bothRefuse'
}

/** Counts what one rule's trial would have changed, and for which keys. */
export class RuleTrial {
  readonly top: SpaceSaving<NamedKey, Attributes>
  readonly distinct: HyperLogLog = new HyperLogLog()
  readonly counts: { -readonly [K in keyof Divergence]: number } = {
    bothAllow: 0,
    bothRefuse: 0,
    newlyRefused: 0,
    newlyAllowed: 0,
  }

  /** `describe` names the key of a request. */
  constructor(describe: (attributes: Attributes) => NamedKey) {
    this.top = new SpaceSaving(PLACES, describe)
  }

  /** Notes what was answered on trial, next to the enforced answer. */
  note(key: string, attributes: Attributes, enforced: boolean, onTrial: boolean): void {
    const way = divergenceOf(enforced, onTrial)
    this.counts[way] += 1
    if (way !== 'newlyRefused') return
    this.distinct.add(hash32(key))
    this.top.add(keptKey(key), 1, attributes)
  }
}

/** The sum of several; null of none. */
export function sumOf(all: readonly Divergence[]): Divergence | null {
  if (all.length === 0) return null
  const sum = { bothAllow: 0, bothRefuse: 0, newlyRefused: 0, newlyAllowed: 0 }
  for (const one of all) {
    sum.bothAllow += one.bothAllow
    sum.bothRefuse += one.bothRefuse
    sum.newlyRefused += one.newlyRefused
    sum.newlyAllowed += one.newlyAllowed
  }
  return sum
}

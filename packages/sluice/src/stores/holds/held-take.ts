// Decides the checks of one request on counts with holds: looks at all of them, then charges all or none.
import { algorithmOf } from '../../algorithms/table.ts'
import type { Verdict } from '../../limit/verdict.ts'
import type { Millis } from '../../time/clock.ts'
import type { Check } from '../store.ts'
import type { HeldCounts } from './held-counts.ts'
import { holdUnits, roomOf, spendHeld, type HeldCount } from './held-count.ts'
import { HeldVerdict, numbersOf } from './held-verdict.ts'

interface Viewed {
  readonly check: Check
  readonly count: HeldCount
  /** The count's own instant. */
  readonly own: Millis
  readonly fits: boolean
}

/** A request under way: its checks with `holds`, looked at but not charged. */
export class HeldTake {
  /** Whether every check that is not shadow fits. */
  readonly isAllowed: boolean
  private readonly views: readonly Viewed[]
  private readonly now: Millis

  constructor(counts: HeldCounts, checks: readonly Check[], now: Millis) {
    this.now = now
    const wanted = new Map<HeldCount, number>()
    this.views = checks
      .filter(({ holds }) => holds === true)
      .map((check) => {
        const [count, own] = counts.open(check, now)
        // Checks on one count are decided in order.
        const before = check.shadow === true ? 0 : (wanted.get(count) ?? 0)
        const fits = check.cost === 0 || roomOf(check.limit, count, own) >= before + check.cost
        if (fits && check.shadow !== true) wanted.set(count, before + check.cost)
        return { check, count, own, fits }
      })
    this.isAllowed = this.views.every(({ check, fits }) => fits || check.shadow === true)
  }

  /** Charges all that fits if the whole request is allowed, else only what counts refusals. */
  finish(isAllowed: boolean): readonly Verdict[] {
    if (isAllowed)
      for (const view of this.views) if (view.check.shadow !== true) charge(view, view.check.cost)
    return this.views.map((view) => {
      const { check, count, own, fits } = view
      const { limit, cost, shadow, countRefused } = check
      let allowed = fits
      if (isAllowed && shadow === true) {
        allowed = cost === 0 || roomOf(limit, count, own) >= cost
        if (allowed) charge(view, cost)
      }
      if (countRefused === true && (!isAllowed || !allowed))
        spendHeld(limit, count, Math.max(0, Math.min(cost, roomOf(limit, count, own))), own)
      return new HeldVerdict(limit, numbersOf(count), cost, this.now, allowed, 'memory')
    })
  }
}

function charge({ check, count, own }: Viewed, cost: number): void {
  if (cost === 0) return
  if (check.hold === undefined) spendHeld(check.limit, count, cost, own)
  else holdUnits(check.limit, count, cost, check.hold, own)
}

/** Hands back units that were spent without a hold. */
export function refundHeld({ limit, cost, takenAt }: Check, count: HeldCount, own: Millis): void {
  algorithmOf(limit).refund(limit, count.state, cost, own, takenAt ?? own)
}

// Decides the checks of one request on counts with holds: looks at all of them, then charges all or none.
import type { Verdict } from '../../limit/verdict.ts'
import type { Millis } from '../../time/clock.ts'
import type { Check } from '../store.ts'
import type { HeldCounts } from './held-counts.ts'
import {
  cloneOf,
  fitsHeld,
  holdUnits,
  grantablePart,
  roomOf,
  spendHeld,
  type HeldCount,
  type HeldNumbers,
} from './held-count.ts'
import { HeldVerdict, numbersOf } from './held-verdict.ts'

/** A check, and its count as the check finds it. */
interface HeldView {
  readonly check: Check
  readonly fits: boolean
  /** The count, with earlier checks of the request on the same count charged in it. */
  readonly seen: HeldNumbers
  /** The count's own instant. */
  readonly own: Millis
  /** The count to save. */
  readonly next: HeldCount
  /** Whether the cost is charged in `next` already. */
  readonly isCharged: boolean
}

/** A request under way: its checks with `holds`, looked at but not charged. */
export class HeldTake {
  /** Whether every check that is not shadow fits. */
  readonly isAllowed: boolean
  private readonly views: HeldView[] = []
  private readonly counts: HeldCounts
  private readonly now: Millis

  constructor(counts: HeldCounts, checks: readonly Check[], now: Millis) {
    this.counts = counts
    this.now = now
    const held = checks.filter(({ holds }) => holds === true)
    for (const check of held) {
      const { count, own } = counts.open(check, now)
      const earlier = this.views.findLast(
        (view) => isSameCount(view.check, check) && view.check.shadow !== true,
      )
      const before = check.shadow === true ? count : (earlier?.next ?? count)
      const fits = fitsHeld(check.limit, before, check.cost, own)
      const seen = numbersOf(before)
      // A second check on the same count must see what this one takes, although nothing is saved yet.
      const isTwin = held.some((other) => other !== check && isSameCount(other, check))
      const next = isTwin && fits ? cloneOf(before) : before
      if (isTwin && fits) charge(check, next, own)
      this.views.push({ check, own, fits, seen, next, isCharged: isTwin })
    }
    this.isAllowed = this.views.every(({ check, fits }) => fits || check.shadow === true)
  }

  /** Charges all that fits if the whole request is allowed, else only what counts refusals. */
  finish(isAllowed: boolean): readonly Verdict[] {
    const verdicts: Verdict[] = []
    for (const [i, view] of this.views.entries()) {
      if (!isAllowed) verdicts[i] = this.refuse(view)
      else if (view.check.shadow !== true) verdicts[i] = this.commit(view)
    }
    for (const [i, { check }] of this.views.entries()) {
      if (isAllowed && check.shadow === true) verdicts[i] = this.takeShadow(check)
    }
    return verdicts
  }

  private commit({ check, own, next, isCharged }: HeldView): Verdict {
    if (!isCharged) charge(check, next, own)
    if (check.cost > 0) this.counts.save(check, next, this.now)
    return this.verdictOn(check, next, true)
  }

  private takeShadow(check: Check): Verdict {
    const { count, own, isChanged } = this.counts.open(check, this.now)
    if (check.hold?.fair === true || check.partial === true) return this.takePart(check, count, own)
    const fits = fitsHeld(check.limit, count, check.cost, own)
    const isCounted = fits || check.countRefused === true
    if (fits) charge(check, count, own)
    else if (isCounted) spendRoom(check, count, own)
    if (check.cost > 0 && (isCounted || isChanged)) this.counts.save(check, count, this.now)
    return this.verdictOn(check, count, fits)
  }

  private takePart(check: Check, count: HeldCount, own: Millis): Verdict {
    const units = grantablePart(check, count, own)
    const charged = check.booked === true ? check.cost : units
    if (charged > 0) charge({ ...check, cost: charged }, count, own)
    this.counts.save(check, count, this.now)
    return this.verdictOn(check, count, units > 0, units)
  }

  private refuse({ check, fits, seen }: HeldView): Verdict {
    const { count, own, isChanged } = this.counts.open(check, this.now)
    const isCounted = check.countRefused === true
    const fitsNow = fitsHeld(check.limit, count, check.cost, own)
    // Spent, not held: a refused request gets no hold.
    if (isCounted) spendRoom(check, count, own)
    if (check.cost > 0 && (isCounted || isChanged)) this.counts.save(check, count, this.now)
    // It fits alone: it was refused because an earlier check of this request is on the same count.
    const isShownAsFound = !fits && (!isCounted || fitsNow)
    return isShownAsFound
      ? this.verdictOn(check, seen, false)
      : this.verdictOn(check, count, fitsNow)
  }

  private verdictOn(
    { limit, cost }: Check,
    numbers: HeldNumbers,
    allowed: boolean,
    held?: number,
  ): Verdict {
    return new HeldVerdict(limit, numbersOf(numbers), cost, this.now, allowed, 'memory', held)
  }
}

function charge({ limit, cost, hold }: Check, count: HeldCount, own: Millis): void {
  if (cost === 0) return
  if (hold === undefined) spendHeld(limit, count, cost, own)
  else holdUnits(limit, count, cost, hold, own)
}

/** Spends the cost of a refused request, or what is left of the limit. */
function spendRoom({ limit, cost }: Check, count: HeldCount, own: Millis): void {
  if (cost === 0) return
  spendHeld(limit, count, Math.min(cost, Math.max(0, roomOf(limit, count, own))), own)
}

function isSameCount(a: Check, b: Check): boolean {
  return a.space === b.space && a.key === b.key
}

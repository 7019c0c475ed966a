// Checks and settlements of holds, made from those of their rules.
import type { RuleCheck } from '../decision/lazy-decision.ts'
import type { RuleInCode } from '../policy/policy.ts'
import type { Settlement } from '../stores/holds/hold-store.ts'
import type { Check, Hold } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'

/** What is booked on one rule. */
export type Booking = Pick<Settlement, 'spent' | 'keep' | 'life'>

/** Frees everything. */
export const NOTHING_SPENT: Booking = { spent: 0, keep: 0 }

/** Whether a rule has slots. */
export function isSlot(rule: RuleInCode): boolean {
  return rule.concurrency !== undefined
}

/** The check of one slot. */
export function slotCheck(check: RuleCheck, rule: RuleInCode, id: string): RuleCheck {
  return holdCheck(check, 1, { id, life: rule.hold as Millis, onEnd: 'free', isNew: true })
}

/** The check of a hold, made of one that nothing else uses: a copy costs as much as the rest of a reservation. */
export function holdCheck(check: RuleCheck, cost: number, hold: Hold): RuleCheck {
  const own = check as { cost: number; hold?: Hold | undefined }
  own.cost = cost
  own.hold = hold
  return check
}

/** A settlement of the hold on the count of a check. */
export function settlementOf(
  { space, key, limit, slowestQuota }: Check,
  id: string,
  { spent, keep, life }: Booking = NOTHING_SPENT,
  debt = 0,
): Settlement {
  return { space, key, limit, slowestQuota, id, spent, keep, life, debt }
}

/** Units by which a settlement may exceed the limit. */
export function debtOf({ debt }: RuleInCode, { limit }: Check): number {
  return debt === true ? limit.burst : debt === false || debt === undefined ? 0 : debt
}

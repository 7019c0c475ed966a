// What a take charged and has to refund: its answer came too late, or another cluster slot refused.
import type { Verdict } from '../limit/verdict.ts'
import { chargedBy } from '../stores/pools.ts'
import type { Check } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'

/** A check whose units are to be refunded, and its place in the request. */
export interface Charge {
  readonly check: Check
  readonly index: number
  /** Milliseconds until all units are back without a refund. */
  readonly resetAfter: Millis
}

/** Milliseconds until the units of all charges are back without a refund. */
export function longestResetOf(charges: readonly { readonly resetAfter: Millis }[]): Millis {
  return charges.reduce((most, { resetAfter }) => Math.max(most, resetAfter), 0)
}

/**
 * The checks of a take that were charged because the whole was allowed, each with the instant of its charge.
 * Units charged by countRefused stay charged.
 */
export function chargesOf(
  checks: readonly Check[],
  verdicts: readonly Verdict[],
): readonly Charge[] {
  const charged = chargedBy(checks, verdicts)
  if (charged === undefined) return []
  return checks.flatMap((check, index) => {
    const { at, resetAfter } = verdicts[index]!
    // A lease ends by itself, and its holder may have spent from it.
    if (check.hold?.onEnd === 'spent') return []
    if (check.partial === true) return partialCharge(check, verdicts[index]!, index)
    return charged[index] === true && check.cost > 0
      ? [{ check: { ...check, takenAt: at }, index, resetAfter }]
      : []
  })
}

function partialCharge(
  check: Check,
  { held = 0, at, resetAfter }: Verdict,
  index: number,
): readonly Charge[] {
  const taken = {
    ...check,
    partial: false,
    cost: check.booked === true ? check.cost : held,
    takenAt: at,
  }
  return taken.cost > 0 ? [{ check: taken, index, resetAfter }] : []
}

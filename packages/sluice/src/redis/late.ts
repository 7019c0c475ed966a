// What a call charged that was answered after it had been given up.
import type { Verdict } from '../limit/verdict.ts'
import { chargedBy } from '../stores/pools.ts'
import type { Check } from '../stores/store.ts'

/** A check whose units are to be refunded, and its place in the request. */
interface Charged {
  readonly check: Check
  readonly index: number
}

/**
 * The checks of a take that were charged because the whole was allowed, each with the instant of its charge.
 * Units charged by countRefused stay charged.
 */
export function chargedOf(
  checks: readonly Check[],
  verdicts: readonly Verdict[],
): readonly Charged[] {
  const charged = chargedBy(checks, verdicts)
  if (charged === undefined) return []
  return checks.flatMap((check, index) => {
    const { at } = verdicts[index]!
    // A lease ends by itself, and its holder may have spent from it.
    if (check.hold?.onEnd === 'spent') return []
    if (check.partial === true) return partOf(check, verdicts[index]!, index)
    return charged[index] === true && check.cost > 0
      ? [{ check: { ...check, takenAt: at }, index }]
      : []
  })
}

function partOf(check: Check, { held = 0, at }: Verdict, index: number): readonly Charged[] {
  const taken = {
    ...check,
    partial: false,
    cost: check.booked === true ? check.cost : held,
    takenAt: at,
  }
  return taken.cost > 0 ? [{ check: taken, index }] : []
}

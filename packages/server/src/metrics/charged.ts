// Which counts a request was charged to.
import type { Check, Decision, VisibleOutcome } from 'sluice'

/**
 * Whether a check of a decision was charged: all or none, so that a refused request is charged only where refusals count.
 */
export function isCharged(
  { allowed }: Pick<Decision, 'allowed'>,
  { countRefused }: Pick<Check, 'countRefused'>,
  outcome: Pick<VisibleOutcome, 'allowed'>,
): boolean {
  return outcome.allowed && (allowed || countRefused === true)
}

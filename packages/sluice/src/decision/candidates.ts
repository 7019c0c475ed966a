// Limits on trial: their checks go with those of the request, and their answers are added to the decision.
import type { Verdict } from '../limit/verdict.ts'
import type { Check } from '../stores/store.ts'
import type { Candidate, Decision } from './decision.ts'
import type { RuleCheck } from './lazy-decision.ts'

/** The checks of the limits on trial, in the order of the rules. */
export function candidateChecks(checks: readonly RuleCheck[]): readonly Check[] {
  const onTrial = checks.filter((check) => check.onTrial !== undefined)
  return onTrial.map(({ key, cost, onStoreFailure, onTrial }) => ({
    ...onTrial!,
    key,
    cost,
    shadow: true,
    candidate: true,
    ...(onStoreFailure !== undefined && { onStoreFailure }),
  }))
}

/** The decision with what the limits on trial answered. */
export function withCandidates(
  decision: Decision,
  checks: readonly RuleCheck[],
  verdicts: readonly Verdict[],
  answers: readonly Verdict[],
): Decision {
  const candidates: Candidate[] = []
  for (const [place, { rule, onTrial }] of checks.entries()) {
    const answer = answers[candidates.length]
    if (onTrial === undefined || answer === undefined) continue
    const { allowed, remaining } = answer
    const enforced = verdicts[place]!.allowed
    candidates.push({ rule: rule.name, limit: onTrial.limit, allowed, remaining, enforced, place })
  }
  return Object.assign(decision, { candidates })
}

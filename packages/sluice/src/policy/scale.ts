// The policy of a stand-in: the same rules with smaller limits.
import { limit, type Limit, type LimitInput } from '../limit/limit.ts'
import type { LimitOrNone, Policy, Rule } from './policy.ts'

/** A part of some units. */
type PartOf = (units: number) => number

/**
 * The policy with a part of every quota and burst of its local rules, but at least 1 unless the quota is 0.
 * Counts keep their spaces.
 */
export function scalePolicy(policy: Policy, partOf: PartOf): Policy {
  return { ...policy, rules: policy.rules.map((rule) => scaleRule(rule, partOf)) }
}

function scaleRule(rule: Rule, partOf: PartOf): Rule {
  if ((rule.onStoreFailure ?? 'local') !== 'local') return rule
  const scale = (input: LimitInput): Limit => scaleLimit(limit(input), partOf)
  const scaleOrNone = (input: LimitOrNone): LimitOrNone =>
    input === 'unlimited' ? input : scale(input)
  const { tiers, overrides } = rule
  return {
    ...rule,
    limit: scale(rule.limit),
    ...(tiers && {
      tiers: {
        ...tiers,
        limits: Object.fromEntries(
          Object.entries(tiers.limits).map(([tier, one]) => [tier, scaleOrNone(one)]),
        ),
      },
    }),
    ...(overrides && {
      overrides: overrides.map((one) => ({ ...one, limit: scaleOrNone(one.limit) })),
    }),
  }
}

/** A part of a limit's quota and burst, but at least 1 unless they are 0. */
export function scaleLimit(whole: Limit, partOf: PartOf): Limit {
  const part = (units: number): number => (units === 0 ? 0 : Math.max(1, partOf(units)))
  return { ...whole, quota: part(whole.quota), burst: part(whole.burst) }
}

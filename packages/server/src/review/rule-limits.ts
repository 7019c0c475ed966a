// Every limit that a rule may apply, with the way to it.
import type { LimitOrNone, Rule } from 'sluice'
import type { Step } from '../config/problem.ts'

/** One limit of a rule: what it is called in messages, and where it stands below the rule. */
export interface RuleLimit {
  readonly input: LimitOrNone
  readonly what: string
  readonly place: readonly Step[]
}

/** The limit of a rule itself, and those of its overrides, tiers, trial and pools. */
export function limitsOf(rule: Rule): readonly RuleLimit[] {
  const { overrides = [], tiers, candidate, pools = [] } = rule
  return [
    { input: rule.limit, what: 'the limit', place: ['limit'] },
    ...overrides.map(({ limit: input }, i) => ({
      input,
      what: `override ${i + 1}`,
      place: ['overrides', i, 'limit'],
    })),
    ...Object.entries(tiers?.limits ?? {}).map(([tier, input]) => ({
      input,
      what: `tier ${tier}`,
      place: ['tiers', 'limits', tier],
    })),
    ...(candidate === undefined
      ? []
      : [{ input: candidate, what: 'the limit on trial', place: ['candidate'] }]),
    ...pools.map(({ name, limit: input }, i) => ({
      input,
      what: `pool ${name}`,
      place: ['pools', i, 'limit'],
    })),
  ]
}

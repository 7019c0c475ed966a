// Which attributes a policy reads, so that adapters compute no others.
import type { LimitInput } from '../limit/limit.ts'
import type { Policy } from '../policy/policy.ts'

/** The names of all attributes that some rule reads. */
export function attributeNames({ rules }: Pick<Policy, 'rules'>): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { by, when = {}, tiers, overrides = [], cost } of rules) {
    const conditions = [when, ...overrides.map((override) => override.when)]
    for (const name of [...by, ...conditions.flatMap(Object.keys)]) names.add(name)
    if (tiers !== undefined) names.add(tiers.attribute)
    if (typeof cost === 'string') names.add(cost)
  }
  return names
}

/** Whether a rule may delay a request that it allows. */
export function mayDelay({ rules }: Policy): boolean {
  return rules.some(({ limit, tiers, overrides = [] }) =>
    [
      limit,
      ...Object.values(tiers?.limits ?? {}),
      ...overrides.map((override) => override.limit),
    ].some(
      (input: LimitInput | 'unlimited') =>
        typeof input === 'object' && input.algorithm === 'leaky-bucket',
    ),
  )
}

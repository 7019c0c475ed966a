// Which attributes a policy reads, so that adapters compute no others.
import type { PolicyInCode } from '../policy/policy.ts'

/** The names of all attributes that some rule reads, except what a limit function reads. */
export function attributeNames({ rules }: Pick<PolicyInCode, 'rules'>): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { by, when = {}, tiers, overrides = [], cost } of rules) {
    const conditions = [when, ...overrides.map((override) => override.when)]
    for (const name of [...by, ...conditions.flatMap(Object.keys)]) names.add(name)
    if (tiers !== undefined) names.add(tiers.attribute)
    if (typeof cost === 'string') names.add(cost)
  }
  return names
}

/** Whether a function chooses a limit, which may read any attribute. */
export function hasLimitFunction({ rules }: PolicyInCode): boolean {
  return rules.some(({ limit }) => typeof limit === 'function')
}

/** Whether a rule may delay a request that it allows. */
export function mayDelay({ rules }: PolicyInCode): boolean {
  return rules.some(({ limit, tiers, overrides = [] }) =>
    [
      limit,
      ...Object.values(tiers?.limits ?? {}),
      ...overrides.map((override) => override.limit),
    ].some(
      (input) =>
        typeof input === 'function' ||
        (typeof input === 'object' && input.algorithm === 'leaky-bucket'),
    ),
  )
}

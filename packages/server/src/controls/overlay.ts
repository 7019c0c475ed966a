// Applies the operators' overrides to the policies of the file.
import { parsePolicy, SluiceError, type Override, type Policy } from 'sluice'
import type { LiveOverride } from './control.ts'

/** The policies in force, and the overrides that are not, each with the reason. */
export interface Overlaid {
  readonly policies: readonly Policy[]
  readonly idle: ReadonlyMap<string, string>
}

/**
 * Every override goes in front of those that the file has for its rule, the newest first. One whose rule is not
 * there, or that does not fit the rule any more, waits until it does. Policies that nothing is laid over stay the
 * same objects.
 */
export function overlaid(
  policies: readonly Policy[],
  overrides: readonly LiveOverride[],
): Overlaid {
  const idle = new Map<string, string>()
  const newestFirst = overrides.toSorted((a, b) => b.since - a.since)
  const rulesOf = new Map(
    policies.map(({ name, rules }) => [name, new Set(rules.map((rule) => rule.name))]),
  )
  for (const { id, policy, rule } of overrides) {
    const rules = rulesOf.get(policy)
    if (rules === undefined) idle.set(id, 'there is no policy of that name')
    else if (!rules.has(rule)) idle.set(id, 'there is no rule of that name')
  }
  const made = policies.map((policy) => {
    const own = newestFirst.filter((one) => one.policy === policy.name && !idle.has(one.id))
    return own.length === 0 ? policy : withOverrides(policy, own, idle)
  })
  return { policies: made, idle }
}

function withOverrides(
  policy: Policy,
  overrides: readonly LiveOverride[],
  idle: Map<string, string>,
): Policy {
  try {
    return applied(policy, overrides)
  } catch {
    // At least one override does not fit: they are tried one by one.
    const fitting = overrides.filter((one) => {
      const problem = overrideProblem(policy, one)
      if (problem !== undefined) idle.set(one.id, problem)
      return problem === undefined
    })
    return fitting.length === 0 ? policy : applied(policy, fitting)
  }
}

/** What is wrong with an override of a rule of this policy; undefined when nothing is. */
export function overrideProblem(
  policy: Policy,
  override: Pick<LiveOverride, 'rule' | 'when' | 'limit'>,
): string | undefined {
  try {
    parsed(policy, override)
    return undefined
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    return error.problems[0]?.message ?? error.message
  }
}

function applied(
  policy: Policy,
  overrides: readonly Pick<LiveOverride, 'rule' | 'when' | 'limit'>[],
): Policy {
  const rules = policy.rules.map((rule) => {
    const own = overrides.filter((one) => one.rule === rule.name)
    if (own.length === 0) return rule
    const added = own.map((one) => parsedOnce(policy, one))
    return { ...rule, overrides: [...added, ...(rule.overrides ?? [])] }
  })
  return parsePolicy({ ...policy, rules })
}

/** The parsed form of each override: one change of thousands must not parse them all again. */
const known = new WeakMap<object, Override>()

function parsedOnce(
  policy: Policy,
  override: Pick<LiveOverride, 'rule' | 'when' | 'limit'>,
): Override {
  let made = known.get(override)
  if (made === undefined) known.set(override, (made = parsed(policy, override)))
  return made
}

/** An override as the parser makes it, by its rule alone; throws what is wrong with it. */
function parsed(
  { name, rules }: Policy,
  { rule, when, limit }: Pick<LiveOverride, 'rule' | 'when' | 'limit'>,
): Override {
  const alone = { ...rules.find((one) => one.name === rule)!, overrides: [{ when, limit }] }
  return parsePolicy({ name, rules: [alone] }).rules[0]!.overrides![0]!
}

// The same policy in each coordination mode that its rules allow.
import { parsePolicy, SluiceError, type Policy, type Rule } from 'sluice'
import { Mistake } from '../terminal/mistake.ts'

/** How the processes of a fleet share the counts of a rule. */
export type Mode = NonNullable<Rule['coordination']>

const MODES: readonly Mode[] = ['strict', 'leased', 'synced', 'local', 'auto']

/** The modes that a flag names; all of them without one. Throws {@link Mistake}. */
export function modesOf(flag: string | undefined): readonly Mode[] {
  if (flag === undefined) return MODES
  const names = flag.split(',').map((name) => name.trim())
  const wrong = names.find((name) => !MODES.includes(name as Mode))
  if (wrong === undefined) return names as Mode[]
  throw new Mistake(`--modes has ${JSON.stringify(wrong)}; accepted: ${MODES.join(', ')}`)
}

/** The policy with every rule in the mode that can be; undefined if none can. Others stay strict. */
export function policyIn(policy: Policy, mode: Mode): Policy | undefined {
  const rules = policy.rules.map((rule) => ruleIn(rule, mode))
  const isChanged = rules.some(({ coordination = 'strict' }) => coordination === mode)
  return isChanged ? { ...policy, rules } : undefined
}

function ruleIn(rule: Rule, mode: Mode): Rule {
  const { coordination: _, ...strict } = rule
  try {
    const [changed] = parsePolicy({ name: 'one', rules: [{ ...strict, coordination: mode }] }).rules
    return changed ?? strict
  } catch (error) {
    if (error instanceof SluiceError) return strict
    throw error
  }
}

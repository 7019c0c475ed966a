// What a limiter enforces for some attributes, rule by rule, without a call to its store.
import type { RuleDescription } from '../decision/decision.ts'
import { show } from '../errors.ts'
import { limitText } from '../limit/limit.ts'
import type { CompiledRule } from '../policy/compile.ts'
import { attributeText } from '../key/key.ts'
import { compileCondition } from '../policy/pattern.ts'
import type { Attributes } from '../policy/policy.ts'
import { costFor } from './match-rules.ts'

/** One description for each rule, in the policy's order. */
export function describeRules(
  rules: readonly CompiledRule[],
  attributes: Attributes,
  cost: number,
): readonly RuleDescription[] {
  return rules.map((rule) => describeRule(rule, attributes, cost))
}

function describeRule(rule: CompiledRule, attributes: Attributes, cost: number): RuleDescription {
  const { name, when = {} } = rule.rule
  const none = { rule: name, limit: null, cost: 0 }
  const valueOf = (attribute: string): string | undefined => attributeText(attributes, attribute)
  const unmet = Object.keys(when).find(
    (attribute) => !compileCondition({ [attribute]: when[attribute]! })(attributes),
  )
  if (unmet !== undefined) {
    const value = valueOf(unmet)
    const found = value === undefined ? 'not known' : show(value)
    const text = `${name} does not apply: ${unmet} is ${found}; the rule requires ${show(when[unmet])}`
    return { ...none, effect: 'unmet', attribute: unmet, text }
  }
  const missing = rule.by.find((attribute) => valueOf(attribute) === undefined)
  if (missing !== undefined) {
    const text = `${name} is skipped: ${missing} is not known, and the rule counts by it`
    return { ...none, effect: 'missing', attribute: missing, text }
  }
  const placed = rule.choose === null ? rule.base : rule.choose(attributes)
  if (placed === null)
    return { ...none, effect: 'unlimited', text: `${name} is unlimited for this request` }
  const effect = rule.shadow ? 'shadow' : 'enforced'
  const counted = rule.by.map((attribute) => `${attribute} ${show(valueOf(attribute))}`)
  const forWhom = counted.length === 0 ? 'all requests together' : counted.join(', ')
  const verb = rule.shadow ? 'counts, without enforcing,' : 'enforces'
  const text = `${name} ${verb} ${limitText(placed.limit)} for ${forWhom}`
  return { rule: name, effect, limit: placed.limit, cost: costFor(rule, attributes, cost), text }
}

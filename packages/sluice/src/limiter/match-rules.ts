// From attributes to checks: which rules apply to a request, with which key, limit and cost.
import type { DecisionRequest } from '../decision/decide.ts'
import type { Skipped } from '../decision/decision.ts'
import type { RuleCheck } from '../decision/lazy-decision.ts'
import { show, SluiceError } from '../errors.ts'
import { attributeText, isPlain, keyOf } from '../key/key.ts'
import type { CompiledRule } from '../policy/compile.ts'
import type { PlacedLimit } from '../limit/placed-limit.ts'
import type { Attributes } from '../policy/policy.ts'

const NONE: readonly never[] = []
/** The key of rules that count all requests together. */
const SHARED_KEY = keyOf([])

/** One check for each rule that applies, and the rules that were skipped although their conditions held. */
export function matchRules(
  rules: readonly CompiledRule[],
  attributes: Attributes,
  cost: number,
  hashKeys: boolean,
): DecisionRequest {
  // Of the right length from the start: V8 makes room for seventeen on a first push.
  const checks = new Array<RuleCheck>(rules.length)
  let count = 0
  let skipped: Skipped[] | undefined
  for (const rule of rules) {
    if (rule.applies !== null && !rule.applies(attributes)) continue
    const key = keyOfRule(rule, attributes, hashKeys)
    const placed = key === undefined || rule.choose === null ? rule.base : rule.choose(attributes)
    if (key === undefined || placed === null) {
      skipped ??= []
      skipped.push(skippedOf(rule, attributes))
      continue
    }
    const units = rule.cost === undefined ? cost : costFor(rule, attributes, cost)
    checks[count++] = toCheck(rule, key, units, placed)
  }
  if (count < checks.length) checks.length = count
  return { attributes: [attributes], checks, skipped: skipped ?? NONE }
}

/** The check of one rule. */
export function toCheck(
  rule: CompiledRule,
  key: string,
  cost: number,
  placed: PlacedLimit = rule.base!,
): RuleCheck {
  const { space, limit, slowestQuota } = placed
  const { shadow, countRefused, onStoreFailure, coordination, candidate, base } = rule
  if (rule.holds) return toHeldCheck(rule, key, cost, placed)
  const lockout = rule.lockout ?? undefined
  const check: RuleCheck = {
    space,
    key,
    limit,
    cost,
    slowestQuota,
    shadow,
    countRefused,
    onStoreFailure,
    lockout,
    coordination,
    rule: rule.rule,
    onTrial: candidate === null || placed !== base ? undefined : candidate,
  }
  return rule.pools === null ? check : { ...check, pools: rule.pools }
}

/** The check of a rule whose counts keep holds. Without a hold, a slot is only looked at: it could not be freed. */
function toHeldCheck(
  { rule, shadow, countRefused, onStoreFailure }: CompiledRule,
  key: string,
  cost: number,
  { space, limit, slowestQuota }: PlacedLimit,
): RuleCheck {
  const units = rule.concurrency === undefined ? cost : 0
  return {
    space,
    key,
    limit,
    cost: units,
    slowestQuota,
    holds: true,
    hold: undefined,
    shadow,
    countRefused,
    onStoreFailure,
    rule,
  }
}

/** Whether a rule counts every request by the attribute `key`, always under the same limit. */
export function isBareRule(rule: CompiledRule): boolean {
  return (
    rule.applies === null &&
    rule.choose === null &&
    rule.base !== null &&
    rule.candidate === null &&
    rule.pools === null &&
    rule.cost === undefined &&
    !rule.shadow &&
    !rule.holds &&
    rule.by.length === 1 &&
    rule.by[0] === 'key'
  )
}

/** The key of a request; undefined when one of its attributes is not known. */
export function keyOfRule(
  { by, joinedKeys }: CompiledRule,
  attributes: Attributes,
  hashKeys: boolean,
): string | undefined {
  // Most rules count by one attribute, whose value mostly is the key: no list is made for it then.
  if (by.length === 1) {
    const value = attributeText(attributes, by[0]!)
    if (value === undefined || (!hashKeys && isPlain(value))) return value
    return keyOf([value], hashKeys)
  }
  if (by.length === 0) return SHARED_KEY
  const values = new Array<string>(by.length)
  for (let i = 0; i < by.length; i++) {
    const value = attributeText(attributes, by[i]!)
    if (value === undefined) return undefined
    values[i] = value
  }
  return hashKeys ? keyOf(values, true) : joinedKeys.keyOf(values)
}

function skippedOf({ rule, by }: CompiledRule, attributes: Attributes): Skipped {
  const missing = by.find((name) => attributeText(attributes, name) === undefined)
  return missing === undefined ? { rule: rule.name } : { rule: rule.name, missing }
}

/** The units that a rule takes for a request: its own cost, that of an attribute, or the caller's. */
export function costFor(rule: CompiledRule, attributes: Attributes, cost: number): number {
  if (typeof rule.cost === 'number') return rule.cost
  if (rule.cost === undefined || !Object.hasOwn(attributes, rule.cost)) return cost
  const own = attributes[rule.cost]
  if (own === undefined || own === null || own === '') return cost
  requireCost(`attribute ${rule.cost}`, own)
  return own as number
}

/** Throws unless a value is a cost: a whole number of units, from 0 to 2^53 - 1. */
export function requireCost(what: string, value: unknown): void {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return
  throw new SluiceError(
    'invalid-cost',
    `${what} is ${show(value)}; accepted: a whole number of units, from 0 to 2^53 - 1`,
  )
}

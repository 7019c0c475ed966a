// Parses a policy: the result is valid in every part, or the list of all mistakes.
import { show, SluiceError, type Problem } from '../errors.ts'
import {
  COORDINATION,
  FLAGS,
  ON_EXCEED,
  ON_STORE_FAILURE,
  OVERRIDE_FIELDS,
  POLICY_FIELDS,
  RULE_FIELDS,
  TIERS_FIELDS,
} from './fields.ts'
import { canBeLeased, canBeSynced, type Limit } from '../limit/limit.ts'
import type {
  LimitFunction,
  Override,
  Policy,
  PolicyInCode,
  Rule,
  RuleInCode,
  Tiers,
} from './policy.ts'
import { readCondition } from './read-condition.ts'
import { readPolicyLimit, readLimitOrNone } from './read-limit.ts'
import { checkHoldChoices, checkHoldLimit, readHoldFields, slotLimit } from './read-hold.ts'
import { readLockout } from './read-lockout.ts'
import { readPools } from './read-pools.ts'
import { readAttribute, readBy, readName } from './read-name.ts'
import {
  at,
  addProblem,
  readFields,
  readList,
  readTable,
  addWrongValue,
  type Problems,
} from './reading.ts'

/** A policy, or what is wrong with it. */
export type ParsedPolicy =
  | { readonly policy: Policy; readonly problems: readonly [] }
  | { readonly policy: undefined; readonly problems: readonly Problem[] }

/**
 * The policy as frozen plain data, with every limit in full; parsing it again gives the same. Throws
 * one `invalid-policy` error that lists all mistakes, each with its path, its value and what is accepted.
 *
 * @example
 * ```ts
 * const policy = parsePolicy(JSON.parse(text))
 * const limiter = createLimiter({ policy })
 * ```
 */
export function parsePolicy(input: unknown): Policy {
  const problems: Problem[] = []
  // Without functions, all limits are data.
  return requireValid(readPolicy(problems, input, false) as Policy | undefined, problems)
}

/** Like {@link parsePolicy}, for policies in code: a function may choose a rule's limit. */
export function parsePolicyInCode(input: unknown): PolicyInCode {
  const problems: Problem[] = []
  return requireValid(readPolicy(problems, input, true), problems)
}

function requireValid<P>(policy: P | undefined, problems: readonly Problem[]): P {
  if (policy !== undefined && problems.length === 0) return policy
  const count = problems.length === 1 ? '1 mistake' : `${problems.length} mistakes`
  const list = problems.map(({ message }) => `\n- ${message}`).join('')
  throw new SluiceError('invalid-policy', `the policy has ${count}:${list}`, { problems })
}

/** Like {@link parsePolicy}, but returns the mistakes. Never throws. */
export function tryParsePolicy(input: unknown): ParsedPolicy {
  const problems: Problem[] = []
  const policy = readPolicy(problems, input, false) as Policy | undefined
  return policy === undefined || problems.length > 0
    ? { policy: undefined, problems }
    : { policy, problems: [] }
}

function readPolicy(
  problems: Problems,
  input: unknown,
  functions: boolean,
): PolicyInCode | undefined {
  const fields = readFields(problems, '', input, POLICY_FIELDS, 'an object with name and rules')
  if (fields === undefined) return undefined
  const name = readName(problems, 'name', fields.get('name'))
  const accepted = 'a list of at least one rule'
  const list = readList(problems, 'rules', fields.get('rules'), accepted)
  if (list?.length === 0) addWrongValue(problems, 'rules', list, accepted)
  const names = new Map<string, string>()
  const rules = list?.map((rule, i) => readRule(problems, at('rules', i), rule, names, functions))
  if (name === undefined || rules === undefined) return undefined
  return Object.freeze({ name, rules: Object.freeze(rules.filter((rule) => rule !== undefined)) })
}

/** One rule; `names` has the rules read before it, by name. */
function readRule(
  problems: Problems,
  path: string,
  input: unknown,
  names: Map<string, string>,
  functions: boolean,
): RuleInCode | undefined {
  const fields = readFields(problems, path, input, RULE_FIELDS, 'a rule with name, by and limit')
  if (fields === undefined) return undefined
  /** A field that may be left out. */
  const optional = <T>(
    field: keyof Rule,
    read: (problems: Problems, path: string, value: unknown) => T | undefined,
  ): { [name: string]: T } => {
    const value = fields.get(field)
    const result = value === undefined ? undefined : read(problems, at(path, field), value)
    return result === undefined ? {} : { [field]: result }
  }

  const name = readName(problems, at(path, 'name'), fields.get('name'))
  if (name !== undefined) {
    const earlier = names.get(name)
    if (earlier === undefined) names.set(name, path)
    else {
      const message = `is ${show(name)}, the name of ${earlier}; accepted: a name of its own`
      addProblem(problems, at(path, 'name'), name, message)
    }
  }
  const when = optional('when', readCondition)
  const by = readBy(problems, at(path, 'by'), fields.get('by'))
  const own = fields.get('limit')
  // What a function returns is checked when it is called.
  const hold = readHoldFields(problems, path, fields)
  const limit =
    fields.get('concurrency') !== undefined
      ? slotLimit(hold)
      : functions && typeof own === 'function'
        ? (own as LimitFunction)
        : readPolicyLimit(problems, at(path, 'limit'), own)
  checkHoldLimit(problems, path, fields, hold, limit)
  const rest = {
    ...optional('candidate', readPolicyLimit),
    ...optional('tiers', readTiers),
    ...optional('overrides', readOverrides),
    ...optional('cost', readCost),
    ...optional('onStoreFailure', oneOf(ON_STORE_FAILURE)),
    ...optional('onExceed', oneOf(ON_EXCEED)),
    ...optional('lockout', readLockout),
    ...optional('pools', readPools),
    ...optional('thresholds', readThresholds),
    ...optional('coordination', oneOf(COORDINATION)),
  }
  const flags = {}
  for (const flag of FLAGS) Object.assign(flags, optional(flag, readFlag))
  const forbidsLockout =
    fields.get('shadow') === true ||
    fields.get('onExceed') === 'mark' ||
    hold.hold !== undefined ||
    (fields.get('coordination') ?? 'strict') !== 'strict'
  if (forbidsLockout && fields.get('lockout') !== undefined)
    addWrongValue(
      problems,
      at(path, 'lockout'),
      fields.get('lockout'),
      'none on a rule that is shadow, marks, holds units or is leased',
    )
  const forbidsPools =
    forbidsLockout || fields.get('lockout') !== undefined || fields.get('countRefused') === true
  if (forbidsPools && fields.get('pools') !== undefined)
    addWrongValue(
      problems,
      at(path, 'pools'),
      fields.get('pools'),
      'none on a rule that is shadow, marks, locks out, counts refusals, holds units or is leased',
    )
  if (name === undefined || by === undefined || limit === undefined) return undefined
  const rule: RuleInCode = Object.freeze({ name, ...when, by, limit, ...rest, ...flags, ...hold })
  checkLeases(problems, at(path, 'coordination'), rule)
  checkHoldChoices(problems, path, rule)
  return rule
}

function readTiers(problems: Problems, path: string, value: unknown): Tiers | undefined {
  const accepted = 'an object with attribute and limits'
  const fields = readFields(problems, path, value, TIERS_FIELDS, accepted)
  if (fields === undefined) return undefined
  const attribute = readAttribute(problems, at(path, 'attribute'), fields.get('attribute'))
  const here = at(path, 'limits')
  const some = 'a table of at least one limit, by the value of the attribute'
  const table = readTable(problems, here, fields.get('limits'), some)
  if (table?.size === 0) addWrongValue(problems, here, {}, some)
  const limits = [...(table ?? [])].map(([tier, limit]) => {
    // An attribute that is '' is not known, so this tier would never be chosen.
    if (tier === '') addProblem(problems, at(here, tier), limit, 'has no value; accepted: a string')
    return [tier, readLimitOrNone(problems, at(here, tier), limit)] as const
  })
  if (attribute === undefined) return undefined
  return Object.freeze({ attribute, limits: Object.freeze(Object.fromEntries(limits)) }) as Tiers
}

function readOverrides(
  problems: Problems,
  path: string,
  value: unknown,
): readonly Override[] | undefined {
  const list = readList(problems, path, value, 'a list of overrides, each with when and limit')
  return (
    list &&
    Object.freeze(list.flatMap((entry, i) => readOverride(problems, at(path, i), entry) ?? []))
  )
}

/** Overrides made here: one that is parsed again, as each change of thousands of live overrides does, is known to be right. */
const parsedOverrides = new WeakSet<object>()

function readOverride(problems: Problems, path: string, value: unknown): Override | undefined {
  if (typeof value === 'object' && value !== null && parsedOverrides.has(value))
    return value as Override
  const accepted = 'an override with when and limit'
  const fields = readFields(problems, path, value, OVERRIDE_FIELDS, accepted)
  if (fields === undefined) return undefined
  const when = readCondition(problems, at(path, 'when'), fields.get('when'))
  if (when !== undefined && Object.keys(when).length === 0) {
    // It would hold always, and the rule's own limit never.
    addWrongValue(problems, at(path, 'when'), {}, 'a condition on at least one attribute')
  }
  const limit = readLimitOrNone(problems, at(path, 'limit'), fields.get('limit'))
  if (when === undefined || limit === undefined) return undefined
  const override = Object.freeze({ when, limit })
  parsedOverrides.add(override)
  return override
}

/** The most thresholds of one rule. */
const MAX_THRESHOLDS = 10

function readThresholds(
  problems: Problems,
  path: string,
  value: unknown,
): readonly number[] | undefined {
  const accepted = `1 to ${MAX_THRESHOLDS} whole percents from 1 to 100, the smallest first, such as [80, 100]`
  const list = readList(problems, path, value, accepted)
  if (list === undefined) return undefined
  const isPercent = (one: unknown, i: number): boolean =>
    Number.isInteger(one) &&
    (one as number) >= 1 &&
    (one as number) <= 100 &&
    (i === 0 || (one as number) > (list[i - 1] as number))
  if (list.length > 0 && list.length <= MAX_THRESHOLDS && list.every(isPercent))
    return Object.freeze([...(list as number[])])
  addWrongValue(problems, path, value, accepted)
  return undefined
}

function readCost(problems: Problems, path: string, value: unknown): number | string | undefined {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return (value as number) + 0
  const isNumber = typeof value === 'string' && /^[\d.]+$/.test(value)
  if (typeof value === 'string' && value !== '' && !isNumber)
    return readAttribute(problems, path, value)
  const accepted = 'a whole number of units, 0 or more, or the name of an attribute'
  addWrongValue(
    problems,
    path,
    value,
    isNumber ? `${accepted}; write the number without quotes` : accepted,
  )
  return undefined
}

/** Makes the reader of a field that is one of a few names. */
function oneOf<T extends string>(
  names: readonly T[],
): (problems: Problems, path: string, value: unknown) => T | undefined {
  return (problems, path, value) => {
    const known = names.find((name) => name === value)
    if (known === undefined) addWrongValue(problems, path, value, names.join(', '), names)
    return known
  }
}

/** A rule that is to be leased or synced and cannot be would cost a round trip per request, unnoticed. */
function checkLeases(problems: Problems, path: string, rule: RuleInCode): void {
  const { limit, tiers, overrides = [], countRefused, coordination, hold, candidate } = rule
  if (hold !== undefined && coordination !== undefined && coordination !== 'strict')
    addProblem(
      problems,
      path,
      coordination,
      `is ${show(coordination)}, but a budget or slots need a round trip; accepted: strict`,
    )
  if (candidate !== undefined && coordination !== undefined && coordination !== 'strict')
    addProblem(
      problems,
      path,
      coordination,
      `is ${show(coordination)}, but a candidate is decided by the store with every request; accepted: strict, or a shadow rule of its own in place of the candidate`,
    )
  if (coordination !== 'leased' && coordination !== 'synced') return
  const others = [...Object.values(tiers?.limits ?? {}), ...overrides.map((one) => one.limit)]
  const limits = [limit, ...others].filter((one) => typeof one === 'object')
  const isPossible = coordination === 'synced' ? canBeSynced : canBeLeased
  const { algorithm } = limits.find((one) => !isPossible(one as Limit)) ?? {}
  if (algorithm !== undefined)
    addProblem(
      problems,
      path,
      coordination,
      `is "${coordination}", but ${algorithm} cannot be ${coordination}; accepted: strict, auto, or another algorithm`,
    )
  if (countRefused === true)
    addProblem(
      problems,
      path,
      coordination,
      `is "${coordination}", but a refusal that is charged needs a round trip; accepted: strict, or no countRefused`,
    )
}

function readFlag(problems: Problems, path: string, value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  addWrongValue(problems, path, value, 'true or false')
  return undefined
}

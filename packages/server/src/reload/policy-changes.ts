// What a reload changes, in words for the log.
import { isDeepStrictEqual } from 'node:util'
import { limit, limitText, type LimitInput, type Policy, type Rule } from 'sluice'
import { visible } from '../log/client-text.ts'

/** Changes that are listed one by one; of more, only their number. */
const MAX_CHANGES = 20

/** Each change as a short line, such as `api/anonymous: token bucket 10/min → token bucket 12/min`. */
export function policyChanges(
  before: readonly Policy[],
  after: readonly Policy[],
): readonly string[] {
  const all = [
    ...after.flatMap((policy) => {
      const old = before.find(({ name }) => name === policy.name)
      if (old === undefined) return [`${visible(policy.name)}: the policy is new`]
      return ruleChanges(policy.name, old.rules, policy.rules)
    }),
    ...before
      .filter(({ name }) => !after.some((policy) => policy.name === name))
      .map(({ name }) => `${visible(name)}: the policy is removed`),
  ]
  const more = all.length - MAX_CHANGES
  return more > 0 ? [...all.slice(0, MAX_CHANGES), `and ${more} more`] : all
}

function ruleChanges(
  policy: string,
  before: readonly Rule[],
  after: readonly Rule[],
): readonly string[] {
  const nameOf = (rule: Rule): string => `${visible(policy)}/${visible(rule.name)}`
  return [
    ...after.flatMap((rule) => {
      const old = before.find(({ name }) => name === rule.name)
      if (old === undefined) return [`${nameOf(rule)}: the rule is new, ${textOf(rule.limit)}`]
      return fieldChanges(old, rule).map((change) => `${nameOf(rule)}: ${change}`)
    }),
    ...before
      .filter(({ name }) => !after.some((rule) => rule.name === name))
      .map((rule) => `${nameOf(rule)}: the rule is removed`),
  ]
}

function fieldChanges(before: Rule, after: Rule): readonly string[] {
  const changes: string[] = []
  const [old, now] = [textOf(before.limit), textOf(after.limit)]
  if (old !== now) changes.push(`${old} → ${now}`)
  if (before.shadow !== after.shadow)
    changes.push(after.shadow === true ? 'enforced → counted only' : 'counted only → enforced')
  const [oldTrial, trial] = [trialOf(before), trialOf(after)]
  if (oldTrial !== trial) changes.push(`on trial: ${oldTrial} → ${trial}`)
  const names = new Set([...Object.keys(before), ...Object.keys(after)] as (keyof Rule)[])
  const others = [...names].filter(
    (name) =>
      name !== 'limit' &&
      name !== 'shadow' &&
      name !== 'candidate' &&
      !isDeepStrictEqual(before[name], after[name]),
  )
  if (others.length > 0) changes.push(`${others.join(', ')} changed`)
  return changes
}

function trialOf({ candidate }: Rule): string {
  return candidate === undefined ? 'nothing' : textOf(candidate)
}

function textOf(input: LimitInput): string {
  return limitText(limit(input))
}

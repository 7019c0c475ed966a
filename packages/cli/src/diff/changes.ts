// What changes between two configurations, in words, with what each change means for callers.
import {
  limit,
  limitText as limitInWords,
  type Limit,
  type LimitOrNone,
  type Policy,
  type Rule,
} from 'sluice'
import { describePolicy, type Config } from '@sluice/server'
import { algorithmName, rateOf } from '../terminal/words.ts'

/** Whether more is refused after a change, less, or that cannot be said. */
type Direction = 'stricter' | 'looser' | 'other'

/** One change. */
export interface Change {
  /** The policy, or undefined for the rest of the configuration. */
  readonly policy?: string
  readonly rule?: string
  readonly direction: Direction
  /** A sentence. */
  readonly message: string
}

/** Everything that differs, in the order of the new configuration. */
export function changesBetween(before: Config, after: Config): readonly Change[] {
  return [...policyChanges(before.policies, after.policies), ...settingChanges(before, after)]
}

function policyChanges(before: readonly Policy[], after: readonly Policy[]): Change[] {
  const changes: Change[] = []
  for (const policy of after) {
    const old = before.find(({ name }) => name === policy.name)
    if (old === undefined) {
      const rules = policy.rules.map((rule) => inWords(rule)).join('; ')
      changes.push({
        policy: policy.name,
        direction: 'stricter',
        message: `the policy is new: ${rules}`,
      })
    } else {
      for (const change of ruleChanges(policy.name, old.rules, policy.rules)) changes.push(change)
    }
  }
  for (const { name } of before)
    if (!after.some((policy) => policy.name === name))
      changes.push({
        policy: name,
        direction: 'other',
        message: 'the policy is gone; requests for it fail',
      })
  return changes
}

function ruleChanges(policy: string, before: readonly Rule[], after: readonly Rule[]): Change[] {
  const changes: Change[] = []
  for (const rule of after) {
    const say = (direction: Direction, message: string): void =>
      void changes.push({ policy, rule: rule.name, direction, message })
    const old = before.find(({ name }) => name === rule.name)
    if (old === undefined)
      say(rule.shadow === true ? 'other' : 'stricter', `the rule is new: ${inWords(rule)}`)
    else fieldChanges(old, rule, say)
  }
  for (const rule of before)
    if (!after.some(({ name }) => name === rule.name))
      changes.push({
        policy,
        rule: rule.name,
        direction: rule.shadow === true ? 'other' : 'looser',
        message: `the rule is gone: ${inWords(rule)}`,
      })
  return changes
}

type AddChange = (direction: Direction, message: string) => void

function fieldChanges(before: Rule, after: Rule, say: AddChange): void {
  limitChange('the limit', before.limit, after.limit, say)
  if (!same(before.by, after.by))
    say('other', `it counts by ${byText(after)} instead of ${byText(before)}; counts start afresh`)
  if (!same(before.when ?? {}, after.when ?? {}))
    say('other', `it applies ${whenText(after)} instead of ${whenText(before)}`)
  tierChanges(before, after, say)
  if (!same(before.overrides ?? [], after.overrides ?? []))
    say('other', `its overrides change from ${overridesText(before)} to ${overridesText(after)}`)
  if (!same(before.cost ?? null, after.cost ?? null))
    say('other', `a request costs ${costText(after)} instead of ${costText(before)}`)
  if ((before.shadow ?? false) !== (after.shadow ?? false))
    say(
      after.shadow === true ? 'looser' : 'stricter',
      after.shadow === true
        ? 'it only counts now, and refuses nothing'
        : 'it is enforced now; it only counted before',
    )
  if ((before.countRefused ?? false) !== (after.countRefused ?? false))
    say(
      after.countRefused === true ? 'stricter' : 'looser',
      after.countRefused === true
        ? 'refused requests count now'
        : 'refused requests no longer count',
    )
  if ((before.onStoreFailure ?? 'local') !== (after.onStoreFailure ?? 'local'))
    say(
      'other',
      `without the store it ${FAILURE[after.onStoreFailure ?? 'local']} instead of ${FAILURE[before.onStoreFailure ?? 'local']}`,
    )
  if ((before.hidden ?? false) !== (after.hidden ?? false))
    say('other', after.hidden === true ? 'headers no longer show it' : 'headers show it now')
}

const FAILURE = {
  local: 'counts in the process',
  open: 'lets requests through',
  closed: 'refuses requests',
} as const

function tierChanges(before: Rule, after: Rule, say: AddChange): void {
  const [old, now] = [before.tiers, after.tiers]
  if (same(old ?? null, now ?? null)) return
  if (old === undefined || now === undefined || old.attribute !== now.attribute) {
    say(
      'other',
      now === undefined ? 'it has no tiers any more' : `its tiers are by ${now.attribute} now`,
    )
    return
  }
  for (const [value, tier] of Object.entries(now.limits)) {
    const earlier = old.limits[value]
    if (earlier === undefined) say('other', `the tier ${value} is new: ${limitText(tier)}`)
    else limitChange(`the limit of tier ${value}`, earlier, tier, say)
  }
  for (const value of Object.keys(old.limits))
    if (!Object.hasOwn(now.limits, value)) say('other', `the tier ${value} is gone`)
}

function limitChange(what: string, before: LimitOrNone, after: LimitOrNone, say: AddChange): void {
  if (limitText(before) === limitText(after)) return
  if (before === 'unlimited' || after === 'unlimited') {
    say(
      after === 'unlimited' ? 'looser' : 'stricter',
      `${what} changes from ${limitText(before)} to ${limitText(after)}`,
    )
    return
  }
  const [old, now] = [limit(before), limit(after)]
  const direction = directionOf(old, now)
  const verb = direction === 'stricter' ? 'falls' : direction === 'looser' ? 'rises' : 'changes'
  const afresh =
    old.algorithm !== now.algorithm || old.window !== now.window ? '; counts start afresh' : ''
  say(direction, `${what} ${verb} from ${limitText(old)} to ${limitText(now)}${afresh}`)
}

/** Whether each of two limits of one algorithm allows what the other does. */
function directionOf(before: Limit, after: Limit): Direction {
  if (before.algorithm !== after.algorithm || before.slots !== after.slots) return 'other'
  const isRate = after.slots !== true
  const rate = isRate ? after.quota / after.window - before.quota / before.window : 0
  const burst = after.burst - before.burst
  if (rate <= 0 && burst <= 0) return 'stricter'
  return rate >= 0 && burst >= 0 ? 'looser' : 'other'
}

function settingChanges(before: Config, after: Config): Change[] {
  const changes: Change[] = []
  const say = (message: string): void => void changes.push({ direction: 'other', message })
  if (before.store.kind !== after.store.kind)
    say(`counts move from ${before.store.kind} to ${after.store.kind}; they start afresh`)
  if (!same(before.trustedProxies, after.trustedProxies))
    say(
      `trusted proxies change from ${listText(before.trustedProxies)} to ${listText(after.trustedProxies)}; addresses of clients may differ`,
    )
  if (!same(before.proxy.routes, after.proxy.routes))
    say(`routes change from ${listText(before.proxy.routes)} to ${listText(after.proxy.routes)}`)
  if (!same(before.proxy.attributes, after.proxy.attributes))
    say('the header fields that hold attributes change')
  return changes
}

function limitText(input: LimitOrNone): string {
  if (input === 'unlimited') return 'unlimited'
  const made = limit(input)
  if (made.slots === true) return limitInWords(made)
  return `${rateOf(made)} (${algorithmName(made.algorithm)})`
}

/** A rule as `sluice check` describes it. */
function inWords(rule: Rule): string {
  const [, ...lines] = describePolicy({ name: 'x', rules: [rule] })
  return lines.map((line) => line.replace(`  ${rule.name}  `, '').trim()).join('; ')
}

function byText({ by }: Rule): string {
  return by.length === 0 ? 'nothing, one count for all' : by.join(' and ')
}

function whenText({ when = {} }: Rule): string {
  const conditions = Object.entries(when).map(
    ([name, pattern]) => `${name} is ${JSON.stringify(pattern)}`,
  )
  return conditions.length === 0 ? 'always' : `when ${conditions.join(' and ')}`
}

function overridesText({ overrides = [] }: Rule): string {
  return overrides.length === 0
    ? 'none'
    : overrides
        .map((one) => `${limitText(one.limit)} ${whenText({ when: one.when } as Rule)}`)
        .join(', ')
}

function costText({ cost = 1 }: Rule): string {
  return typeof cost === 'number' ? String(cost) : `what ${cost} says`
}

function listText(list: readonly string[]): string {
  return list.length === 0 ? 'none' : list.join(', ')
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
}

/** The value with the names of all objects in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, one]) => [name, sorted(one)]))
}

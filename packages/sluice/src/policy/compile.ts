// A policy made ready for the hot path: conditions as predicates, limits with the space of their counts.
import { SluiceError } from '../errors.ts'
import { JoinedKeys } from '../key/joined-keys.ts'
import { attributeText, joinWithLengths } from '../key/key.ts'
import { limit, type Limit, type LimitInput } from '../limit/limit.ts'
import type { Coordination, OnStoreFailure } from '../limit/verdict.ts'
import { functionLimits } from './function-limits.ts'
import { keepsHolds } from './read-hold.ts'
import { placeLockout } from './read-lockout.ts'
import { compileOverrides } from './override-index.ts'
import { compileCondition, type Predicate } from './pattern.ts'
import type { PlacedLimit, PlacedPool } from '../limit/placed-limit.ts'
import type { Attributes, LimitOrNone, PolicyInCode, RuleInCode } from './policy.ts'

/** The number of the state format: it changes when a new version could misread the counts of an old one. */
const FORMAT = '1'
/** The time within which a lockout counts refusals where a function chooses the limit. */
const MINUTE = 60_000

/** A rule, ready to be matched. */
export interface CompiledRule {
  /** As it was parsed. */
  readonly rule: RuleInCode
  readonly by: readonly string[]
  /** Makes the keys of its attributes. */
  readonly joinedKeys: JoinedKeys
  /** Whether the rule applies; null: always. */
  readonly applies: Predicate | null
  /** The rule's own limit; null when a function chooses it. */
  readonly base: PlacedLimit | null
  /** The limit on trial next to the base; null for none. */
  readonly candidate: PlacedLimit | null
  /** The limit for a request, null for none at all. Itself null when it is always the base. */
  readonly choose: ((attributes: Attributes) => PlacedLimit | null) | null
  readonly cost: number | string | undefined
  readonly shadow: boolean
  readonly countRefused: boolean
  readonly onStoreFailure: OnStoreFailure
  /** Where refusals are counted for a lockout; null without one. */
  readonly lockout: { readonly space: string; readonly limit: Limit } | null
  /** What requests draw from when the limit has no room; null without pools. */
  readonly pools: readonly PlacedPool[] | null
  /** Whether its counts keep holds: it is a budget, or has slots. */
  readonly holds: boolean
  /** Undefined for `strict`. */
  readonly coordination: Coordination | undefined
}

/** The rules of a parsed policy, in its order. */
export function compilePolicy(policy: PolicyInCode): readonly CompiledRule[] {
  return policy.rules.map((rule) => compileRule(policy.name, rule))
}

/**
 * Places the limits of a rule. The space contains the algorithm and the window, so that a state is never read by another
 * arithmetic. It leaves out the quota and the burst, so that raising them forgets nothing.
 */
export function placerFor(
  policyName: string,
  rule: RuleInCode,
): (input: LimitInput) => PlacedLimit {
  const slowest = slowestQuotas(rule)
  return (input) => {
    const parsed = limit(input)
    if (rule.hold !== undefined && !keepsHolds(parsed)) throw cannotHold(parsed)
    const names = [FORMAT, policyName, rule.name, ...sharedCountNames(parsed), ...rule.by]
    // A count with holds is another record.
    if (rule.hold !== undefined) names.push(rule.concurrency === undefined ? 'holds' : 'slots')
    // So is one of which units are leased.
    if (isLeased(rule)) names.push('leases')
    const quota = slowest.get(sharedCountNames(parsed).join(' '))
    return {
      limit: parsed,
      space: joinWithLengths(names),
      slowestQuota: quota === parsed.quota ? undefined : quota,
    }
  }
}

/** The error of a limit that a function chose for a rule with holds. */
function cannotHold({ algorithm }: Limit): SluiceError {
  return new SluiceError(
    'invalid-limit',
    `a limit with ${algorithm}, which cannot keep holds; accepted: another algorithm`,
  )
}

/** Places the limit on trial: never where an enforced limit of the rule counts. */
function placeCandidate(policyName: string, rule: RuleInCode): PlacedLimit {
  const parsed = limit(rule.candidate!)
  const names = [
    FORMAT,
    policyName,
    rule.name,
    'candidate',
    ...sharedCountNames(parsed),
    ...rule.by,
  ]
  return { limit: parsed, space: joinWithLengths(names), slowestQuota: undefined }
}

/** Places the pools of a rule, each in a space of its own. */
function placePools(policyName: string, { name, pools = [], by }: RuleInCode): PlacedPool[] {
  return pools.map((pool) => {
    const parsed = limit(pool.limit)
    const names = [FORMAT, policyName, name, 'pool', pool.name, ...sharedCountNames(parsed), ...by]
    return { name: pool.name, space: joinWithLengths(names), limit: parsed }
  })
}

/** All limits of a rule that are data: its own, then those of its tiers and overrides. */
export function limitsOf({ limit, tiers, overrides = [] }: RuleInCode): readonly LimitInput[] {
  const others = [...Object.values(tiers?.limits ?? {}), ...overrides.map((one) => one.limit)]
  const all = typeof limit === 'function' ? others : [limit, ...others]
  return all.filter((one) => one !== 'unlimited')
}

/** Each limit once: thousands of overrides have few of them, and to read one costs more than to compare. */
function distinct<T extends LimitOrNone>(inputs: readonly T[]): Iterable<T> {
  return new Map(inputs.map((input) => [textOf(input), input])).values()
}

/** The text of each limit: those of parsed overrides stay the same objects when a policy is compiled again. */
const texts = new WeakMap<object, string>()

function textOf(input: LimitOrNone): string {
  if (typeof input === 'string') return input
  let text = texts.get(input)
  if (text === undefined) texts.set(input, (text = JSON.stringify(input)))
  return text
}

/** What limits of one rule have in common when they share its counts. */
function sharedCountNames(limit: Limit): readonly string[] {
  const { algorithm, window, anchor, calendar, timeZone, startsOn, stamps } = limit
  // Two names for each, so that the names of a space never run into those of the attributes that follow.
  if (anchor !== undefined) return [`${algorithm}:${anchor}`, String(window)]
  if (calendar !== undefined)
    return [`${algorithm}:calendar`, `${calendar} ${startsOn} ${timeZone}`]
  if (stamps !== undefined) return [`${algorithm}:stamps`, String(window)]
  return [algorithm, String(window)]
}

/** The smallest quota above 0 of the limits that share counts; empty when the rule has one limit. */
function slowestQuotas(rule: RuleInCode): ReadonlyMap<string, number> {
  const slowest = new Map<string, number>()
  const inputs = limitsOf(rule)
  if (inputs.length === 1 && typeof rule.limit !== 'function') return slowest
  for (const input of distinct(inputs)) {
    const parsed = limit(input)
    const name = sharedCountNames(parsed).join(' ')
    if (parsed.quota > 0) slowest.set(name, Math.min(slowest.get(name) ?? Infinity, parsed.quota))
  }
  return slowest
}

function compileRule(policyName: string, rule: RuleInCode): CompiledRule {
  const place = placerFor(policyName, rule)
  const { limit: own } = rule
  const base = typeof own === 'function' ? null : place(own)
  const ownLimit = typeof own === 'function' ? functionLimits(rule.name, own, place) : () => base
  return {
    rule,
    // A copy: V8 is slow at reading a frozen array.
    by: [...rule.by],
    joinedKeys: new JoinedKeys(),
    applies: rule.when && Object.keys(rule.when).length > 0 ? compileCondition(rule.when) : null,
    base,
    candidate: rule.candidate === undefined ? null : placeCandidate(policyName, rule),
    choose: compileChoice(rule, ownLimit, (input) => (input === 'unlimited' ? null : place(input))),
    cost: rule.cost,
    // A soft limit is counted like a shadow rule; the decision tells them apart.
    shadow: rule.shadow === true || rule.onExceed === 'mark',
    countRefused: rule.countRefused ?? false,
    onStoreFailure: rule.onStoreFailure ?? 'local',
    lockout:
      rule.lockout === undefined
        ? null
        : placeLockout(rule.lockout, base?.limit.window ?? MINUTE, (...kind) => [
            FORMAT,
            policyName,
            rule.name,
            ...kind,
            ...rule.by,
          ]),
    pools: rule.pools === undefined ? null : placePools(policyName, rule),
    holds: rule.hold !== undefined,
    coordination: rule.coordination === 'strict' ? undefined : rule.coordination,
  }
}

/** Overrides in their order, then the tier, then the rule's own limit. */
function compileChoice(
  { limit: own, overrides = [], tiers }: RuleInCode,
  ownLimit: (attributes: Attributes) => PlacedLimit | null,
  place: (input: LimitOrNone) => PlacedLimit | null,
): CompiledRule['choose'] {
  if (overrides.length === 0 && tiers === undefined)
    return typeof own === 'function' ? ownLimit : null
  const findOverride = compileOverrides(overrides)
  const placed = new Map<string, PlacedLimit | null>()
  for (const input of distinct(overrides.map(({ limit }) => limit)))
    placed.set(textOf(input), place(input))
  const overridden = overrides.map(({ limit }) => placed.get(textOf(limit)) ?? null)
  const tierAttribute = tiers?.attribute
  // A map, since the values that are looked up come from requests.
  const byTier = new Map(
    Object.entries(tiers?.limits ?? {}).map(([tier, limit]) => [tier, place(limit)]),
  )
  return (attributes) => {
    const override = findOverride(attributes)
    if (override >= 0) return overridden[override]!
    if (tierAttribute === undefined) return ownLimit(attributes)
    const tier = attributeText(attributes, tierAttribute)
    const ofTier = tier === undefined ? undefined : byTier.get(tier)
    return ofTier === undefined ? ownLimit(attributes) : ofTier
  }
}

function isLeased({ coordination }: RuleInCode): boolean {
  return coordination === 'leased' || coordination === 'auto' || coordination === 'synced'
}

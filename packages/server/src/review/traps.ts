// Finds settings of a configuration that are allowed but probably not meant.
import { limit, type Policy, type Rule } from 'sluice'
import type { Config } from '../config/config.ts'
import type { ConfigRemark, Step } from '../config/problem.ts'
import { escapableKeys } from './escapable-keys.ts'
import { trapsOfListeners, trapsOfTrust } from './listener-traps.ts'
import { idleInFile, idleInRule } from './idle-settings.ts'
import { limitsOf } from './rule-limits.ts'
import { trapsOfRule } from './rule-traps.ts'
import { silentTraps } from './silent-traps.ts'
import { valuesInTwoCases } from './value-case.ts'
import type { Trap } from './warning.ts'

/** Every trap of a configuration, in the order of the file's parts; `remarks` are those that its text alone shows. */
export function trapsOf(config: Config, remarks: readonly ConfigRemark[] = []): readonly Trap[] {
  return [
    ...remarks,
    ...config.policies.flatMap((policy, i) => trapsOfPolicy(policy, config, ['policies', i])),
    ...valuesInTwoCases(config),
    ...ownAttributes(config),
    ...misspelledFields(config),
    ...idleInFile(config),
    ...trapsOfTrust(config),
    ...trapsOfListeners(config),
  ]
}

function trapsOfPolicy(policy: Policy, config: Config, steps: readonly Step[]): readonly Trap[] {
  const bySign = new Map<string, Rule[]>()
  const pools = new Map<string, string>()
  return policy.rules.flatMap((rule, i) => {
    const earlier = rulesAlike(bySign, rule)
    const place = [...steps, 'rules', i]
    return [
      ...trapsOfRule(rule, place),
      ...silentTraps(rule, policy, config, place),
      ...idleInRule(rule, config, place),
      ...escapableKeys(rule, config, place),
      ...separatePools(rule, pools, place),
      ...wholeShare(rule, config, place),
      ...partsBelowOne(rule, config, place),
      ...sameKey(rule, earlier, place),
    ]
  })
}

/** Pools that share a name with one of an earlier rule; the names of this rule join those. */
function separatePools(
  { name: rule, pools = [] }: Rule,
  earlier: Map<string, string>,
  steps: readonly Step[],
): readonly Trap[] {
  return pools.flatMap(({ name }, i): Trap[] => {
    const other = earlier.get(name)
    earlier.set(name, other ?? rule)
    if (other === undefined) return []
    const message = `rules ${other} and ${rule} each have a pool ${name}: these are two pools, and a request may draw from both; give them names of their own, or write one rule`
    return [{ code: 'separate-pools', steps: [...steps, 'pools', i, 'name'], message }]
  })
}

/** A rule that each instance counts by itself, where nothing says how many instances share it. */
function wholeShare(rule: Rule, { failure }: Config, steps: readonly Step[]): readonly Trap[] {
  if (rule.coordination !== 'local' || Object.keys(failure).length > 0) return []
  const message = `rule ${rule.name} is counted by each instance for itself, and nothing says how many there are: each grants the whole limit; set failure.replicas on Redis, or use coordination: synced or leased`
  return [{ code: 'whole-share', steps: [...steps, 'coordination'], message }]
}

/** Limits of a rule that each instance counts by itself, of which an instance would grant less than one unit. */
function partsBelowOne(rule: Rule, { failure }: Config, steps: readonly Step[]): readonly Trap[] {
  const { replicas, fallbackShare } = failure
  if (rule.coordination !== 'local') return []
  return limitsOf(rule).flatMap(({ input, what, place }): Trap[] => {
    if (input === 'unlimited') return []
    const { quota, burst } = limit(input)
    const least = Math.min(quota, burst)
    const part = replicas === undefined ? least * (fallbackShare ?? 1) + 1e-6 : least / replicas
    if (quota === 0 || part >= 1) return []
    const message = `rule ${rule.name} is counted by each instance for itself, and the part of an instance in ${what} is less than 1: each grants 1, and all together more than the limit; raise the limit, or use coordination: strict`
    return [{ code: 'part-below-one', steps: [...steps, ...place], message }]
  })
}

function sameKey(rule: Rule, earlier: readonly Rule[], steps: readonly Step[]): readonly Trap[] {
  const duplicate = earlier.find((other) => alwaysStricter(other, rule))
  if (duplicate === undefined) return []
  const message = `rules ${duplicate.name} and ${rule.name} count the same key, and one of them is stricter at any time: only that one ever refuses; leave one out, or make one a shadow`
  return [{ code: 'same-key', steps, message }]
}

/** Rules on one key that are compared with later ones, at most. */
const MAX_ALIKE = 20

/** The earlier rules that apply to the same requests and count them by the same key and algorithm. Adds this rule to them. */
function rulesAlike(bySign: Map<string, Rule[]>, rule: Rule): readonly Rule[] {
  const { shadow, onExceed, tiers, overrides, cost, hold, pools, by, when = {} } = rule
  if (shadow === true || onExceed === 'mark') return []
  if ((tiers ?? overrides ?? cost ?? hold ?? pools) !== undefined) return []
  const sign = JSON.stringify([
    limit(rule.limit).algorithm,
    by.toSorted(),
    Object.entries(when).toSorted(([x], [y]) => (x < y ? -1 : 1)),
  ])
  const earlier = bySign.get(sign) ?? []
  if (earlier.length < MAX_ALIKE) bySign.set(sign, [...earlier, rule])
  return earlier
}

/** Whether one of two limits always refuses first: its burst and its rate are both no larger than those of the other. */
function alwaysStricter(a: Rule, b: Rule): boolean {
  const [one, other] = [limit(a.limit), limit(b.limit)]
  const burstDifference = one.burst - other.burst
  const rateDifference = one.quota * other.window - other.quota * one.window
  return burstDifference * rateDifference >= 0
}

/** Why a request field should not hold what the service reads from the request itself. */
const OWN_ATTRIBUTES: Readonly<Record<string, string>> = {
  ip: 'any client may send another address, which is taken as it stands; list the proxies in trustedProxies, or give the attribute a name of its own',
  method:
    'rules would compare what the field holds, and a client may send it; give the attribute a name of its own',
  route:
    'proxy.routes have no effect then, and a client may send it; give the attribute a name of its own',
}

/** Fields that hold the addresses of a client and of all proxies on the way. */
const ADDRESS_LISTS = ['x-forwarded-for', 'forwarded']

function ownAttributes({ proxy: { attributes } }: Config): readonly Trap[] {
  return Object.entries(attributes).flatMap(([name, field]) => {
    const why = Object.hasOwn(OWN_ATTRIBUTES, name)
      ? OWN_ATTRIBUTES[name]
      : ADDRESS_LISTS.includes(field.toLowerCase())
        ? 'that is a list which any client may begin as it likes; count by ip, and list the proxies in trustedProxies'
        : undefined
    if (why === undefined) return []
    const message = `proxy.attributes reads ${name} from the request field ${field}: ${why}`
    return [{ code: 'own-attribute' as const, steps: ['proxy', 'attributes', name], message }]
  })
}

/** Attributes of `proxy.attributes` that no rule names, where a rule names one in another case or the field itself. */
function misspelledFields({ proxy: { attributes }, policies }: Config): readonly Trap[] {
  const named = new Set(
    policies.flatMap(({ rules }) =>
      rules.flatMap(({ by, when = {}, tiers }) => [
        ...by,
        ...Object.keys(when),
        ...(tiers === undefined ? [] : [tiers.attribute]),
      ]),
    ),
  )
  return Object.keys(attributes).flatMap((name) => {
    if (named.has(name)) return []
    const same = (text: string) =>
      [...named].find((one) => one.toLowerCase() === text.toLowerCase())
    const swapped = same(attributes[name]!)
    if (swapped !== undefined && !Object.hasOwn(attributes, swapped)) {
      const message = `proxy.attributes sets ${name} from the request field ${attributes[name]}, and rules name ${swapped}; the attribute comes first: write ${swapped}: ${name}`
      return [{ code: 'unset-attribute' as const, steps: ['proxy', 'attributes', name], message }]
    }
    const meant = same(name)
    if (meant === undefined || Object.hasOwn(attributes, meant)) return []
    const message = `proxy.attributes sets ${name}, which no rule names; did you mean ${meant}?`
    return [{ code: 'unset-attribute' as const, steps: ['proxy', 'attributes', name], message }]
  })
}

// Looks through a configuration for what is allowed but probably not meant.
import { limit, type Policy, type Rule } from 'sluice'
import type { Config } from '../config/config.ts'
import type { ConfigRemark, Step } from '../config/problem.ts'
import { trapsOfListeners } from './listener-traps.ts'
import { trapsOfRule } from './rule-traps.ts'
import { silentTraps } from './silent-traps.ts'
import type { Trap } from './warning.ts'

/** Every trap of a configuration, in the order of the file's parts; `remarks` are those that its text alone shows. */
export function trapsOf(config: Config, remarks: readonly ConfigRemark[] = []): readonly Trap[] {
  return [
    ...remarks,
    ...config.policies.flatMap((policy, i) => trapsOfPolicy(policy, config, ['policies', i])),
    ...ownAttributes(config),
    ...misspelledFields(config),
    ...trapsOfListeners(config),
  ]
}

function trapsOfPolicy(policy: Policy, config: Config, steps: readonly Step[]): readonly Trap[] {
  const bySign = new Map<string, Rule[]>()
  return policy.rules.flatMap((rule, i) => {
    const earlier = alike(bySign, rule)
    const place = [...steps, 'rules', i]
    return [
      ...trapsOfRule(rule, place),
      ...silentTraps(rule, policy, config, place),
      ...sameKey(rule, earlier, place),
      ...untrustedAddress(rule, config, place),
    ]
  })
}

function sameKey(rule: Rule, earlier: readonly Rule[], steps: readonly Step[]): readonly Trap[] {
  const twin = earlier.find((other) => alwaysStricter(other, rule))
  if (twin === undefined) return []
  const message = `rules ${twin.name} and ${rule.name} count the same key, and one of them is stricter at any time: only that one ever refuses; leave one out, or make one a shadow`
  return [{ code: 'same-key', steps, message }]
}

/** Rules on one key that are compared with those behind them. */
const MAX_ALIKE = 20

/** The earlier rules that apply to the same requests and count them by the same key and algorithm; this rule joins them. */
function alike(bySign: Map<string, Rule[]>, rule: Rule): readonly Rule[] {
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

/** Whether one of two limits refuses first whatever the traffic: no more at once and no more in the long run. */
function alwaysStricter(a: Rule, b: Rule): boolean {
  const [one, other] = [limit(a.limit), limit(b.limit)]
  const atOnce = one.burst - other.burst
  const inTheLongRun = one.quota * other.window - other.quota * one.window
  return atOnce * inTheLongRun >= 0
}

/** Why a request field should not hold what the service reads from the request itself. */
const OWN_ATTRIBUTES: Readonly<Record<string, string>> = {
  ip: 'any client may send another address, which is taken as it stands; list the proxies in trustedProxies, or give the attribute a name of its own',
  method:
    'rules would compare what the field holds, and a client may send it; give the attribute a name of its own',
  route:
    'proxy.routes have no effect then, and a client may send it; give the attribute a name of its own',
}

function ownAttributes({ proxy: { attributes } }: Config): readonly Trap[] {
  return Object.entries(attributes).flatMap(([name, field]) => {
    const why = Object.hasOwn(OWN_ATTRIBUTES, name) ? OWN_ATTRIBUTES[name] : undefined
    if (why === undefined) return []
    const message = `proxy.attributes reads ${name} from the request field ${field}: ${why}`
    return [{ code: 'own-attribute' as const, steps: ['proxy', 'attributes', name], message }]
  })
}

/** Attributes of `proxy.attributes` that no rule names, and that differ from one that a rule names in their case alone. */
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
    const meant = [...named].find((one) => one.toLowerCase() === name.toLowerCase())
    if (meant === undefined || Object.hasOwn(attributes, meant)) return []
    const message = `proxy.attributes sets ${name}, which no rule names; did you mean ${meant}?`
    return [{ code: 'unset-attribute' as const, steps: ['proxy', 'attributes', name], message }]
  })
}

const ADDRESSES = ['ip', 'address', 'clientip', 'remoteaddress', 'remoteaddr']

function untrustedAddress(rule: Rule, config: Config, steps: readonly Step[]): readonly Trap[] {
  if (config.trustedProxies.length > 0) return []
  return rule.by.flatMap((attribute, i) => {
    if (!ADDRESSES.includes(attribute.toLowerCase().replaceAll(/[^a-z]/g, ''))) return []
    const message = `rule ${rule.name} counts by ${attribute}, and no proxy is trusted: behind one, all clients share its address, or any client may claim another; list the proxies' networks in trustedProxies`
    return [{ code: 'untrusted-address' as const, steps: [...steps, 'by', i], message }]
  })
}

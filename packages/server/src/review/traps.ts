// Looks through a configuration for what is allowed but probably not meant.
import { limit, type Policy, type Rule } from 'sluice'
import type { Config } from '../config/config.ts'
import type { Step } from '../config/problem.ts'
import { trapsOfListeners } from './listener-traps.ts'
import { trapsOfRule } from './rule-traps.ts'
import { silentTraps } from './silent-traps.ts'
import type { Trap } from './warning.ts'

/** Every trap of a configuration, in the order of the file's parts. */
export function trapsOf(config: Config): readonly Trap[] {
  return [
    ...config.policies.flatMap((policy, i) => trapsOfPolicy(policy, config, ['policies', i])),
    ...trapsOfListeners(config),
  ]
}

function trapsOfPolicy(policy: Policy, config: Config, steps: readonly Step[]): readonly Trap[] {
  return policy.rules.flatMap((rule, i) => {
    const place = [...steps, 'rules', i]
    return [
      ...trapsOfRule(rule, place),
      ...silentTraps(rule, policy, config, place),
      ...sameKey(rule, policy.rules.slice(0, i), place),
      ...untrustedAddress(rule, config, place),
    ]
  })
}

function sameKey(rule: Rule, earlier: readonly Rule[], steps: readonly Step[]): readonly Trap[] {
  const twin = earlier.find((other) => countAlike(other, rule) && alwaysStricter(other, rule))
  if (twin === undefined) return []
  const message = `rules ${twin.name} and ${rule.name} count the same key, and one of them is stricter at any time: only that one ever refuses; leave one out, or make one a shadow`
  return [{ code: 'same-key', steps, message }]
}

/** Whether two rules apply to the same requests and count them by the same key. */
function countAlike(a: Rule, b: Rule): boolean {
  if (a.shadow === true || b.shadow === true) return false
  if ([a, b].some(({ tiers, overrides, cost }) => tiers ?? overrides ?? cost)) return false
  const sign = ({ by, when = {} }: Rule) =>
    JSON.stringify([by.toSorted(), Object.entries(when).toSorted(([x], [y]) => (x < y ? -1 : 1))])
  return sign(a) === sign(b)
}

/** Whether one of two limits refuses first whatever the traffic: no more at once and no more in the long run. */
function alwaysStricter(a: Rule, b: Rule): boolean {
  const [one, other] = [limit(a.limit), limit(b.limit)]
  const atOnce = one.burst - other.burst
  const inTheLongRun = one.quota * other.window - other.quota * one.window
  return atOnce * inTheLongRun >= 0
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

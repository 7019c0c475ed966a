// Traps of rules that never apply although they look right: a misspelled attribute, method or route.
import type { Condition, Policy, Rule } from 'sluice'
import type { Config } from '../config/config.ts'
import { didYouMean, nearestName } from '../config/did-you-mean.ts'
import type { Step } from '../config/problem.ts'
import { holdsWithout, textsFor } from './patterns.ts'
import type { Trap } from './warning.ts'

/** What adapters, proxies and most callers set. */
const USUAL = ['user', 'apiKey', 'tenant', 'ip', 'route', 'method', 'plan', 'key', 'team', 'host']
/** What the service itself sets for requests that a proxy asks about or that pass the reverse proxy. */
const SET_BY_PROXIES = ['ip', 'route', 'method']

/** The silent traps of one rule of a policy, which stands at `steps` in the file. */
export function silentTraps(
  rule: Rule,
  policy: Policy,
  config: Config,
  steps: readonly Step[],
): readonly Trap[] {
  return [
    ...unsetAttributes(rule, policy, config, steps),
    ...conditionsOf(rule).flatMap(([when, place]) => [
      ...methodCase(rule, when, [...steps, ...place]),
      ...undeclaredRoutes(rule, when, config, [...steps, ...place]),
    ]),
  ]
}

function conditionsOf({ when = {}, overrides = [] }: Rule): [Condition, readonly Step[]][] {
  return [
    [when, ['when']],
    ...overrides.map(({ when }, i): [Condition, readonly Step[]] => [
      when,
      ['overrides', i, 'when'],
    ]),
  ]
}

/** An attribute that a rule names: how, and where. */
interface NamedAttribute {
  readonly attribute: string
  readonly use: string
  readonly loss: string
  readonly place: readonly Step[]
}

/** The attributes that must be set for a rule, its overrides and its tiers to apply. */
function namedIn({ name, by, when = {}, overrides = [], tiers }: Rule): readonly NamedAttribute[] {
  const loss = 'the rule never applies'
  const asked = (condition: Condition) =>
    Object.keys(condition).filter((attribute) => !holdsWithout(condition, attribute))
  const named: NamedAttribute[] = by.map((attribute, i) => ({
    attribute,
    use: `rule ${name} counts by ${attribute}`,
    loss,
    place: ['by', i],
  }))
  for (const attribute of asked(when)) {
    const use = `rule ${name} asks for ${attribute}`
    named.push({ attribute, use, loss, place: ['when', attribute] })
  }
  for (const [i, override] of overrides.entries())
    for (const attribute of asked(override.when)) {
      const use = `an override of rule ${name} asks for ${attribute}`
      const place = ['overrides', i, 'when', attribute]
      named.push({ attribute, use, loss: 'the override never applies', place })
    }
  if (tiers !== undefined) {
    const { attribute } = tiers
    const use = `rule ${name} has tiers by ${attribute}`
    named.push({ attribute, use, loss: 'no tier ever applies', place: ['tiers', 'attribute'] })
  }
  return named
}

/** Attributes that a rule needs and that nothing sets, or that look like a misspelling of another. */
function unsetAttributes(
  rule: Rule,
  policy: Policy,
  { proxy, listeners, policies }: Config,
  steps: readonly Step[],
): readonly Trap[] {
  const own = Object.keys(proxy.attributes)
  const known = [...own, ...USUAL]
  const isBehindProxy =
    listeners.proxy !== undefined && (listeners.proxy.policy ?? policies[0]?.name) === policy.name
  return namedIn(rule).flatMap(({ attribute, use, loss, place }) => {
    const trap = (message: string): Trap[] => [
      { code: 'unset-attribute', steps: [...steps, ...place], message: `${use}, ${message}` },
    ]
    if (isBehindProxy && ![...own, ...SET_BY_PROXIES].includes(attribute)) {
      const meant = didYouMean(attribute, [...own, ...SET_BY_PROXIES])
      return trap(
        `which the reverse proxy never sets: ${loss}${meant}; name the request field that holds it in proxy.attributes`,
      )
    }
    if (known.includes(attribute)) return []
    // However many rules share it: a misspelling is often copied.
    const nearest = nearestName(attribute, known)
    if (nearest === undefined) return []
    return trap(`which nothing in this file sets: without it ${loss}; did you mean ${nearest}?`)
  })
}

/** Methods in lower case: requests carry them in upper case, and texts are compared as they are. */
function methodCase(rule: Rule, when: Condition, steps: readonly Step[]): readonly Trap[] {
  const wrong = (textsFor(when, 'method') ?? []).filter((text) => text !== text.toUpperCase())
  return wrong.map((text) => {
    const message = `rule ${rule.name} asks for the method ${text}, which no request has: methods are in upper case; write ${text.toUpperCase()}`
    return { code: 'method-case', steps: [...steps, 'method'], message }
  })
}

/** Routes that are not declared: where routes are declared, a request has one of those or none. */
function undeclaredRoutes(
  rule: Rule,
  when: Condition,
  { proxy }: Config,
  steps: readonly Step[],
): readonly Trap[] {
  if (proxy.routes.length === 0) return []
  const wrong = (textsFor(when, 'route') ?? []).filter((text) => !proxy.routes.includes(text))
  return wrong.map((text) => {
    const message = `rule ${rule.name} asks for the route ${text}, which is not among proxy.routes: no request that a proxy asks about has it${didYouMean(text, proxy.routes)}; add it there`
    return { code: 'undeclared-route', steps: [...steps, 'route'], message }
  })
}

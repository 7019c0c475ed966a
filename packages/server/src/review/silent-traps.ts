// Traps of rules that never apply although they look right: a misspelled attribute, method or route.
import type { Condition, Policy, Rule } from 'sluice'
import { type Config, proxiedPolicy } from '../config/config.ts'
import { didYouMean, nearestName, type Step } from '../config/problem.ts'
import { unmetConditions, unmetTiers, USUAL_ATTRIBUTES } from '../config/unmet-conditions.ts'
import { aliasOf } from './attribute-aliases.ts'
import { holdsWithout } from './patterns.ts'
import type { Trap } from './warning.ts'

/** What the service itself sets for requests that a proxy asks about or that pass the reverse proxy. */
const SET_BY_PROXIES = ['ip', 'network', 'route', 'method']

/** The silent traps of one rule of a policy, which stands at `steps` in the file. */
export function silentTraps(
  rule: Rule,
  policy: Policy,
  config: Config,
  steps: readonly Step[],
): readonly Trap[] {
  const settings = { proxy: config.proxy, isBehindProxy: proxiedPolicy(config) === policy.name }
  return [
    ...unsetAttributes(rule, policy, config, steps),
    ...(settings.isBehindProxy ? unknownRoutes(rule, config, steps) : []),
    ...(rule.tiers === undefined
      ? []
      : unmetTiers(`rule ${rule.name}`, rule.tiers, settings).map(({ code, value, message }) => ({
          code,
          message,
          steps: [...steps, 'tiers', 'limits', value],
        }))),
    ...conditionsOf(rule).flatMap(([when, place]) =>
      unmetConditions(`rule ${rule.name}`, when, settings).map(({ code, attribute, message }) => ({
        code,
        message,
        steps: [...steps, ...place, attribute],
      })),
    ),
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
function namedIn({
  name,
  by,
  when = {},
  overrides = [],
  tiers,
  cost,
}: Rule): readonly NamedAttribute[] {
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
  if (typeof cost === 'string') {
    const use = `rule ${name} takes its cost from ${cost}`
    named.push({ attribute: cost, use, loss: 'every request costs 1', place: ['cost'] })
  }
  return named
}

/** Attributes that a rule needs and that nothing sets, or that look like a misspelling of another. */
function unsetAttributes(
  rule: Rule,
  policy: Policy,
  config: Config,
  steps: readonly Step[],
): readonly Trap[] {
  const own = Object.keys(config.proxy.attributes)
  const known = [...own, ...USUAL_ATTRIBUTES]
  const isProxied = proxiedPolicy(config) === policy.name
  return namedIn(rule).flatMap(({ attribute, use, loss, place }) => {
    const trap = (message: string): Trap[] => [
      { code: 'unset-attribute', steps: [...steps, ...place], message: `${use}, ${message}` },
    ]
    const names = attribute.split(/\s*[,;+&|]\s*/)
    if (names.length > 1 && !own.includes(attribute))
      return trap(`which is one name, not several: ${loss}; write [${names.join(', ')}]`)
    if (isProxied && ![...own, ...SET_BY_PROXIES].includes(attribute)) {
      const meant = didYouMean(attribute, [...own, ...SET_BY_PROXIES])
      return trap(
        `which the reverse proxy never sets: ${loss}${meant}; name the request field that holds it in proxy.attributes`,
      )
    }
    if (known.includes(attribute)) return []
    // However many rules share it: a misspelling is often copied.
    // Descriptors of Envoy may have any key, such as remote_address.
    if (config.listeners.grpc !== undefined && attribute.includes('_')) return []
    const nearest = aliasOf(attribute) ?? nearestName(attribute, known)
    if (nearest === undefined) return []
    return trap(`which nothing in this file sets: without it ${loss}; did you mean ${nearest}?`)
  })
}

/** Counting by route behind the reverse proxy, which knows no routes. */
function unknownRoutes({ name, by }: Rule, { proxy }: Config, steps: readonly Step[]): Trap[] {
  const position = by.indexOf('route')
  if (position < 0 || proxy.routes.length > 0 || Object.hasOwn(proxy.attributes, 'route')) return []
  const message = `rule ${name} counts by route, and proxy.routes is empty: all requests of the reverse proxy count as one route, *unmatched; list the routes in proxy.routes`
  return [{ code: 'undeclared-route', steps: [...steps, 'by', position], message }]
}

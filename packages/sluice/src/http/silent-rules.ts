// Rules, blocks and overrides that no request can meet although they look right: reported once.
import { closestName } from '../options/suggest.ts'
import type { LiveCondition } from '../limiter/policy-of-limiter.ts'
import type { Condition, PolicyInCode, RuleInCode } from '../policy/policy.ts'
import { addressProblem, type CountedBits } from './address-conditions.ts'
import { IDENTITIES } from './attributes.ts'
import { patternsIn, textsIn, allowsAbsence } from './condition-texts.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import { apiKeyHash } from './identity.ts'
import type { HttpOptions } from './options.ts'
import { routeSpellings } from '../policy/route-spellings.ts'
import { methodName } from './routes.ts'
import type { HttpWarningCode, Warn } from './warnings.ts'

/** Attributes that every adapter can set. */
const OWN = ['ip', 'network', 'method', 'route', 'key']

/** Reports attributes that rules need and nothing sets, and values in conditions that no request has. */
export function warnOfSilentRules<Q, S>(
  { rules }: PolicyInCode,
  adapter: FrameworkAdapter<Q, S>,
  options: HttpOptions<Q, S>,
  warn: Warn,
): void {
  const needed = rules.flatMap((rule) => unsetIn(`rule ${rule.name}`, neededBy(rule), options))
  if (needed.length > 0) warn('attribute-unset', () => needed.join('; '))
  const unmet = rules.flatMap((rule) => {
    const what = `rule ${rule.name}`
    const { when = {}, overrides = [], tiers } = rule
    // A tier is chosen by the exact value.
    const values = Object.keys(tiers?.limits ?? {}).map((equals): Condition => ({
      [tiers!.attribute]: { equals },
    }))
    return [when, ...overrides.map((override) => override.when), ...values].flatMap((when) =>
      unmetConditionsIn({ what, when }, adapter, options),
    )
  })
  for (const code of [
    'method-name',
    'address-prefix',
    'api-key-plain',
    'route-undeclared',
  ] as const) {
    const found = unmet.filter((one) => one.code === code).map(({ message }) => message)
    if (found.length > 0) warn(code, () => found.join('; '))
  }
}

/** The attributes and values in conditions of live blocks and overrides that no request has, in words. */
export function silentConditions<Q, S>(
  conditions: readonly LiveCondition[],
  adapter: FrameworkAdapter<Q, S>,
  options: HttpOptions<Q, S>,
): readonly string[] {
  return conditions.flatMap((condition) => {
    const { what, when } = condition
    const needed = Object.keys(when).filter((name) => !allowsAbsence(when[name]!))
    const unmet = unmetConditionsIn(condition, adapter, options).map(({ message }) => message)
    return [...unsetIn(what, needed, options), ...unmet]
  })
}

interface UnmetCondition {
  readonly code: HttpWarningCode
  readonly message: string
}

/** The methods, addresses and routes of a condition that no request has. */
function unmetConditionsIn<Q, S>(
  { what, when }: LiveCondition,
  { routesLate = false }: FrameworkAdapter<Q, S>,
  options: HttpOptions<Q, S>,
): readonly UnmetCondition[] {
  const { routes, attributes } = options
  // A table or a function of the application may set these itself.
  const isOwn = (name: string): boolean =>
    typeof attributes === 'function' ||
    (attributes !== undefined && Object.hasOwn(attributes, name))
  const methods: UnmetCondition[] = textsIn(when, 'method')
    // HEAD beside GET is no mistake: it counts as GET.
    .filter((text, _, all) => !all.includes(methodName(text)) && text !== '*other')
    .map((text) => ({
      code: 'method-name',
      message: `${what} asks for the method ${text}, which no request has: it counts as ${methodName(text)}`,
    }))
  const addresses: UnmetCondition[] = ['ip', 'network']
    .filter((name) => !isOwn(name))
    .flatMap((name) =>
      patternsIn(when, name).flatMap((pattern) => {
        const problem = addressProblem(name, pattern, countedBits(options))
        if (problem === undefined) return []
        const text = typeof pattern === 'object' ? Object.values(pattern)[0] : pattern
        const remedy = problem.includes('count by') ? ', or set address.ipv6Prefix' : ''
        return [
          {
            code: 'address-prefix' as const,
            message: `${what} asks for ${name} ${String(text)}: ${problem}${remedy}`,
          },
        ]
      }),
    )
  const keys: UnmetCondition[] = (
    options.apiKey === undefined || isOwn('apiKey') ? [] : textsIn(when, 'apiKey')
  )
    .filter((text) => !/^[\w-]{43}$/.test(text))
    .map((text) => ({
      code: 'api-key-plain',
      message: `${what} asks for an apiKey in plain text, which no request has: keys are compared by their hashes; write ${apiKeyHash(text)}`,
    }))
  // Frameworks that know the route of every request match more than what is declared.
  const isListed = routesLate && Array.isArray(routes)
  const undeclared: UnmetCondition[] = (isListed ? textsIn(when, 'route') : [])
    .filter((text) => !text.startsWith('*') && !isDeclared(text, routes!))
    .map((text) => {
      const meant = closestName(text, routes!)
      const hint = meant === undefined ? '' : `: did you mean ${meant}?`
      const message = `${what} asks for the route ${text}, which is not among routes${hint}`
      return { code: 'route-undeclared', message }
    })
  return [...methods, ...addresses, ...keys, ...undeclared]
}

/** The bits by which an adapter with these options counts addresses. */
function countedBits<Q, S>({ address }: HttpOptions<Q, S>): CountedBits {
  const { ipv4Prefix = 32, ipv6Prefix = 56 } = typeof address === 'object' ? address : {}
  return { ipv4: ipv4Prefix, ipv6: ipv6Prefix }
}

/** The attributes among some that nothing sets, in words. */
function unsetIn<Q, S>(
  what: string,
  names: readonly string[],
  options: HttpOptions<Q, S>,
): readonly string[] {
  const { attributes } = options
  const table = typeof attributes === 'object' ? Object.keys(attributes) : []
  const set = [...OWN, ...table, ...IDENTITIES.filter((name) => options[name] !== undefined)]
  const usualNames = [...OWN, ...IDENTITIES]
  const isUnset = (name: string): boolean => {
    if (set.includes(name)) return false
    // A function may set anything: only what looks like a slip is reported.
    if (typeof attributes !== 'function') return true
    return !usualNames.includes(name) && closestName(name, usualNames, 1) !== undefined
  }
  return names.filter(isUnset).map((name) => {
    const meant = closestName(name, [...set, ...usualNames], Math.floor((name.length - 1) / 2))
    const remedy = IDENTITIES.some((one) => one === name)
      ? `set it by the option ${name} or attributes`
      : meant === undefined
        ? 'set it by the option attributes'
        : `did you mean ${meant}?`
    return `${what} needs the attribute ${name}, which nothing sets: ${remedy}`
  })
}

/** The attributes without which a rule, its overrides, its tiers or its cost never apply. */
function neededBy({ by, when = {}, overrides = [], tiers, cost }: RuleInCode): readonly string[] {
  const conditions = [when, ...overrides.map((override) => override.when)]
  const fromConditions = conditions.flatMap((condition) =>
    Object.keys(condition).filter((name) => !allowsAbsence(condition[name]!)),
  )
  const tier = tiers === undefined ? [] : [tiers.attribute]
  return [
    ...new Set([...by, ...fromConditions, ...tier, ...(typeof cost === 'string' ? [cost] : [])]),
  ]
}

/** Whether a route is declared, or is below a declared mount. */
function isDeclared(route: string, routes: readonly string[]): boolean {
  const spellings = routeSpellings(route)
  return routes.some((declared) =>
    spellings.some((text) => text === declared || text.startsWith(`${declared}/`)),
  )
}

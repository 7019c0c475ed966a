// Rules that no request can meet although they look right: found when the adapter is made, and reported once.
import { closestName } from '../options/suggest.ts'
import type { Condition, Pattern, PolicyInCode, RuleInCode } from '../policy/policy.ts'
import { routeSpellings } from '../policy/route-spellings.ts'
import { IDENTITIES } from './attributes.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import type { HttpOptions } from './options.ts'
import { methodName } from './routes.ts'
import type { Warn } from './warnings.ts'

/** Attributes that every adapter can set. */
const OWN = ['ip', 'network', 'method', 'route', 'key']

/** Reports attributes that nothing sets, methods that no request has, and routes that are not declared. */
export function warnOfSilentRules<Q, S>(
  { rules }: PolicyInCode,
  { routesLate = false }: FrameworkAdapter<Q, S>,
  options: HttpOptions<Q, S>,
  warn: Warn,
): void {
  const report = (code: Parameters<Warn>[0], found: readonly string[]): void => {
    if (found.length > 0) warn(code, () => found.join('; '))
  }
  report('attribute-unset', unsetAttributes(rules, options))
  const asked = rules.flatMap((rule) => [
    { name: rule.name, when: rule.when ?? {} },
    ...(rule.overrides ?? []).map(({ when }) => ({ name: rule.name, when })),
  ])
  report(
    'method-name',
    asked.flatMap(({ name, when }) =>
      textsIn(when, 'method')
        .filter((text) => methodName(text) !== text && text !== '*other')
        .map(
          (text) =>
            `rule ${name} asks for the method ${text}, which no request has: it counts as ${methodName(text)}`,
        ),
    ),
  )
  const { routes } = options
  // Frameworks that know the route of every request match more than what is declared.
  if (!routesLate || !Array.isArray(routes)) return
  report(
    'route-undeclared',
    asked.flatMap(({ name, when }) =>
      textsIn(when, 'route')
        .filter((text) => !text.startsWith('*') && !isDeclared(text, routes))
        .map((text) => {
          const meant = closestName(text, routes)
          return `rule ${name} asks for the route ${text}, which is not among routes${meant === undefined ? '' : `: did you mean ${meant}?`}`
        }),
    ),
  )
}

function unsetAttributes<Q, S>(
  rules: readonly RuleInCode[],
  options: HttpOptions<Q, S>,
): readonly string[] {
  const { attributes } = options
  const table = typeof attributes === 'object' ? Object.keys(attributes) : []
  const set = [...OWN, ...table, ...IDENTITIES.filter((name) => options[name] !== undefined)]
  const isUnset = (name: string): boolean => {
    if (set.includes(name)) return false
    // A function may set anything: only what looks like a slip is reported.
    if (typeof attributes !== 'function') return true
    return !usual.includes(name) && closestName(name, usual, 1) !== undefined
  }
  const usual = [...OWN, ...IDENTITIES]
  return rules.flatMap((rule) =>
    neededBy(rule)
      .filter(isUnset)
      .map((name) => {
        const meant = closestName(name, [...set, ...usual], Math.floor((name.length - 1) / 2))
        const remedy = IDENTITIES.some((one) => one === name)
          ? `set it by the option ${name} or attributes`
          : meant === undefined
            ? 'set it by the option attributes'
            : `did you mean ${meant}?`
        return `rule ${rule.name} needs the attribute ${name}, which nothing sets: ${remedy}`
      }),
  )
}

/** The attributes without which a rule, its overrides or its tiers never apply. */
function neededBy({ by, when = {}, overrides = [], tiers }: RuleInCode): readonly string[] {
  const conditions = [when, ...overrides.map((override) => override.when)]
  const asked = conditions.flatMap((condition) =>
    Object.keys(condition).filter((name) => !allowsAbsence(condition[name]!)),
  )
  return [...new Set([...by, ...asked, ...(tiers === undefined ? [] : [tiers.attribute])])]
}

function allowsAbsence(pattern: Pattern): boolean {
  return pattern === 'absent' || (Array.isArray(pattern) && pattern.includes('absent'))
}

/** The exact texts that a condition names for an attribute. */
function textsIn(condition: Condition, attribute: string): readonly string[] {
  const pattern = condition[attribute]
  const all: readonly unknown[] = Array.isArray(pattern) ? pattern : [pattern]
  return all.filter(
    (text): text is string =>
      typeof text === 'string' && text !== 'present' && text !== 'absent' && !text.endsWith('*'),
  )
}

/** Whether a route is declared, or is below a declared mount. */
function isDeclared(route: string, routes: readonly string[]): boolean {
  const spellings = routeSpellings(route)
  return routes.some((declared) =>
    spellings.some((text) => text === declared || text.startsWith(`${declared}/`)),
  )
}

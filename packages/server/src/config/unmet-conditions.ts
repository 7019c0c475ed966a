// Finds conditions that no request can meet: a method, a route, an address or a string that looks right and never occurs.
import type { Condition, Pattern, Tiers } from 'sluice'
import { addressProblem, apiKeyHash, methodName } from 'sluice/http'
import type { Config } from './config.ts'
import { didYouMean } from './problem.ts'
import { isNetwork, literalPattern } from './literal-patterns.ts'
import { looksLikeDefault, mistakenWord } from './mistaken-texts.ts'

/** The route of every path that no declared pattern matches. */
const UNMATCHED = '*unmatched'

/** What adapters, proxies and most callers set. */
export const USUAL_ATTRIBUTES: readonly string[] = [
  'user',
  'apiKey',
  'tenant',
  'ip',
  'route',
  'method',
  'plan',
  'key',
  'team',
  'host',
]

/** One part of a condition that never holds, or for more than it says. */
export interface UnmetCondition {
  readonly code:
    | 'method-case'
    | 'undeclared-route'
    | 'address-prefix'
    | 'stray-space'
    | 'plain-api-key'
    | 'literal-pattern'
  readonly attribute: string
  readonly message: string
}

/** What is known of the requests: what proxies set, and whether all requests pass the reverse proxy. */
export interface RequestSettings {
  readonly proxy: Pick<Config['proxy'], 'routes' | 'attributes' | 'ipv6Prefix'>
  readonly isBehindProxy: boolean
}

/** The parts of a condition that no request meets, for messages about `who`, such as `rule per-user`. */
export function unmetConditions(
  who: string,
  when: Condition,
  { proxy, isBehindProxy }: RequestSettings,
): readonly UnmetCondition[] {
  const isOwn = (name: string): boolean => Object.hasOwn(proxy.attributes, name)
  return Object.entries(when).flatMap(([attribute, pattern]) => {
    const all: readonly Single[] = Array.isArray(pattern) ? pattern : [pattern as Single]
    return all.flatMap((one): UnmetCondition[] => {
      const text = textOf(one)
      const stray = text === undefined ? undefined : straySpace(who, attribute, text)
      if (stray !== undefined) return [stray]
      const literal = literalProblem(attribute, one)
      if (literal !== undefined)
        return [
          {
            code: 'literal-pattern',
            attribute,
            message: `${who} asks for ${attribute} ${JSON.stringify(writtenIn(one))}: ${literal}`,
          },
        ]
      const prefix = prefixOf(one)
      if (attribute === 'apiKey' && isOwn(attribute)) return plainApiKey(who, text, prefix)
      if (isOwn(attribute)) return []
      if (attribute === 'method' && prefix !== undefined) return methodPrefix(who, prefix)
      if (attribute === 'route' && prefix !== undefined)
        return [...proxy.routes, UNMATCHED].some((route) => route.startsWith(prefix))
          ? []
          : routes(who, `${prefix}*`, proxy.routes, isBehindProxy)
      // HEAD beside GET is no mistake: it counts as GET.
      if (attribute === 'method' && text !== undefined)
        return all.map(textOf).includes(methodName(text)) ? [] : methods(who, text)
      if (attribute === 'route' && text !== undefined)
        return routes(who, text, proxy.routes, isBehindProxy)
      const problem = addressProblem(attribute, one, { ipv4: 32, ipv6: proxy.ipv6Prefix })
      if (problem === undefined) return []
      const named = typeof one === 'object' ? Object.values(one)[0] : one
      const remedy = problem.includes('count by') ? ', or set proxy.ipv6Prefix' : ''
      const message = `${who} asks for ${attribute} ${String(named)}, and where proxies ask ${problem}${remedy}`
      return [{ code: 'address-prefix', attribute, message }]
    })
  })
}

/** The values of tiers that no request has: they are compared as they stand, so a pattern is never met. */
export function unmetTiers(
  who: string,
  { attribute, limits }: Tiers,
  settings: RequestSettings,
): readonly (UnmetCondition & { readonly value: string })[] {
  return Object.keys(limits).flatMap((value) => {
    const literal =
      /\*$|^(?:present|absent)$/.test(value) && !/^\*(?:unmatched|other)$/.test(value)
        ? 'tiers are chosen by exact values; all others get the limit of the rule, or write an override, which may name a pattern'
        : isNetwork(value)
          ? 'tiers are chosen by exact values; write an override, which may name a network'
          : looksLikeDefault(value)
            ? 'tiers are chosen by exact values; all others get the limit of the rule; if requests have this value, write an override for it'
            : literalPattern(attribute, value)?.replace(
                /; write \[.*$/,
                '; write a tier for each value',
              )
    if (literal !== undefined) {
      const message = `${who} has a tier for ${JSON.stringify(value)}: ${literal}`
      return [{ code: 'literal-pattern' as const, attribute, value, message }]
    }
    const unmet = unmetConditions(who, { [attribute]: { equals: value } }, settings)
    return unmet.map((one) => ({
      ...one,
      value,
      message: one.message.replace(' asks for ', ' has a tier for '),
    }))
  })
}

type Single = Exclude<Pattern, readonly unknown[]>

/** The exact text that a pattern asks for. */
function textOf(pattern: Single): string | undefined {
  if (typeof pattern === 'object') return 'equals' in pattern ? String(pattern.equals) : undefined
  const text = String(pattern)
  return text === 'present' || text === 'absent' || text.endsWith('*') ? undefined : text
}

/** What the texts that a pattern asks for begin with. */
function prefixOf(pattern: Single): string | undefined {
  if (typeof pattern !== 'string' || !pattern.endsWith('*') || pattern.length === 1)
    return undefined
  return pattern.slice(0, -1)
}

/** The text of a pattern, as it is written. */
function writtenIn(pattern: Single): string {
  return String(typeof pattern === 'object' ? Object.values(pattern)[0] : pattern)
}

/** What is wrong with a string that looks like a pattern of another kind. `{ equals }` is meant literally. */
function literalProblem(attribute: string, pattern: Single): string | undefined {
  if (typeof pattern === 'string')
    return mistakenWord(pattern) ?? literalPattern(attribute, pattern)
  if (typeof pattern !== 'object' || !('equals' in pattern)) return undefined
  const text = String(pattern.equals)
  const isAddress = attribute === 'ip' || attribute === 'network'
  return isAddress && isNetwork(text)
    ? `it is compared as text, and requests have addresses; write ${text} without equals`
    : undefined
}

/** Proxied requests carry the hash of an API key, which is 43 characters of base64url. */
function plainApiKey(
  who: string,
  text: string | undefined,
  prefix: string | undefined,
): UnmetCondition[] {
  if (prefix !== undefined) {
    const message = `${who} asks for API keys that begin with ${prefix}, which no request of a proxy has: keys are compared by their hashes; read another attribute from the same field, or list the hashes`
    return [{ code: 'plain-api-key', attribute: 'apiKey', message }]
  }
  if (text === undefined || /^[\w-]{43}$/.test(text)) return []
  const message = `${who} asks for an apiKey in plain text, which no request of a proxy has: keys are compared by their hashes; write ${apiKeyHash(text)}`
  return [{ code: 'plain-api-key', attribute: 'apiKey', message }]
}

function methodPrefix(who: string, prefix: string): UnmetCondition[] {
  if (METHODS.some((method) => method.startsWith(prefix))) return []
  const message = `${who} asks for methods that begin with ${prefix}, which no request of a proxy has: methods are in upper case`
  return [{ code: 'method-case', attribute: 'method', message }]
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY', 'TRACE', 'CONNECT']

function straySpace(who: string, attribute: string, text: string): UnmetCondition | undefined {
  if (text.trim() === text) return undefined
  const message = `${who} asks for ${attribute} ${JSON.stringify(text)}, with a space at an end, which requests do not have; write ${JSON.stringify(text.trim())}`
  return { code: 'stray-space', attribute, message }
}

/** Methods that no proxied request has: in lower case, or counted under another name. */
function methods(who: string, text: string): UnmetCondition[] {
  const name = methodName(text)
  if (name === text || text === '*other') return []
  const why =
    name === text.toUpperCase()
      ? `which no request has: methods are in upper case; write ${name}`
      : name === '*other'
        ? 'which no request of a proxy has: rare methods count as one; write { equals: "*other" }'
        : `which no request of a proxy has: it counts as ${name}; write ${name}`
  const message = `${who} asks for the method ${text}, ${why}`
  return [{ code: 'method-case', attribute: 'method', message }]
}

/** Routes that are not declared: where routes are declared, a request has one of those or none. */
function routes(
  who: string,
  text: string,
  declared: readonly string[],
  isBehindProxy: boolean,
): UnmetCondition[] {
  if (declared.includes(text) || text === UNMATCHED) return []
  if (declared.length === 0 && !isBehindProxy) return []
  const hint = didYouMean(text, declared)
  const message = `${who} asks for the route ${text}, which is not among proxy.routes: no request that a proxy asks about has it${hint}; add it there`
  return [{ code: 'undeclared-route', attribute: 'route', message }]
}

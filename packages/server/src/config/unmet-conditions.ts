// What a condition asks for that no request has: a method, a route, an address or a text that looks right and never comes.
import type { Condition, Pattern } from 'sluice'
import { addressProblem, methodName } from 'sluice/http'
import type { Config } from './config.ts'
import { didYouMean } from './did-you-mean.ts'

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
  readonly code: 'method-case' | 'undeclared-route' | 'address-prefix' | 'stray-space'
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
      if (isOwn(attribute)) return []
      if (attribute === 'method' && text !== undefined) return methods(who, text)
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

type Single = Exclude<Pattern, readonly unknown[]>

/** The exact text that a pattern asks for. */
function textOf(pattern: Single): string | undefined {
  if (typeof pattern === 'object') return 'equals' in pattern ? String(pattern.equals) : undefined
  const text = String(pattern)
  return text === 'present' || text === 'absent' || text.endsWith('*') ? undefined : text
}

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
        ? 'which no request of a proxy has: rare methods count as one; write "*other"'
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
  if (declared.includes(text) || text === '*unmatched') return []
  if (declared.length === 0 && !isBehindProxy) return []
  const hint = didYouMean(text, declared)
  const message = `${who} asks for the route ${text}, which is not among proxy.routes: no request that a proxy asks about has it${hint}; add it there`
  return [{ code: 'undeclared-route', attribute: 'route', message }]
}

// Declared route patterns, and the names of methods, for keys: a key never holds the path itself.
import { show, SluiceError } from '../errors.ts'
import { pathReadings, plainSegment, type Segments } from './path-readings.ts'

/** The template of everything that matches no route, 404s among it. */
export const UNMATCHED = '*unmatched'

/** A declared pattern. The rank orders patterns by how specific they are: fixed segments count for it, others against it. */
interface Declared {
  readonly pattern: string
  readonly rank: number
}

interface Branch {
  readonly fixed: Map<string, Branch>
  any: Branch | null
  /** The pattern that ends here, and the one that takes whatever follows. */
  end: Declared | null
  rest: Declared | null
}

/**
 * Creates the function that finds the templates of a path among declared patterns such as `/orders/{id}`,
 * `/orders/:id` and `/files/{path*}`. Case, double and trailing slashes, dot segments, encodings and path parameters make no difference:
 * a path that some server would take for a route counts as that route. Where servers would take it for different
 * routes, all of them are returned, the most specific first; with `asSent`, only the one of the path as it was sent,
 * if there is one.
 */
export function routeMatcher(
  patterns: readonly string[],
  asSent = false,
): (path: string) => readonly string[] {
  if (!Array.isArray(patterns)) throw wrong(patterns)
  const root = newBranch()
  for (const pattern of patterns) {
    const taken = declare(root, pattern)
    if (taken !== pattern && !isSameRoute(taken, pattern)) throw sameShape(pattern, taken)
  }
  return (path) => {
    const found: Declared[] = []
    for (const segments of pathReadings(path)) {
      const declared = find(root, segments, 0)
      if (declared !== null && !found.includes(declared)) found.push(declared)
      if (asSent && found.length > 0) break
    }
    if (found.length > 1) found.sort((a, b) => b.rank - a.rank)
    return found.map(({ pattern }) => pattern)
  }
}

/**
 * The first route pattern that matches the same paths as another one in front of it, so that it is never the route of a
 * request: its position and the other pattern. The same pattern twice, as `/a/:id` and `/a/{id}`, is none.
 *
 * @example
 * ```ts
 * hiddenRoute(['/orders/{id}', '/orders/{name}']) // { position: 1, behind: '/orders/{id}' }
 * ```
 */
export function hiddenRoute(
  patterns: readonly string[],
): { readonly position: number; readonly behind: string } | undefined {
  const root = newBranch()
  for (const [position, pattern] of patterns.entries()) {
    const behind = declare(root, pattern)
    if (behind !== pattern && !isSameRoute(behind, pattern)) return { position, behind }
  }
  return undefined
}

/** Whether two patterns are one, spelled in two ways. */
function isSameRoute(a: string, b: string): boolean {
  const plain = (pattern: string): string => pattern.replaceAll(/\{(\w+)\}/g, ':$1')
  return plain(a) === plain(b)
}

function sameShape(pattern: string, taken: string): SluiceError {
  return new SluiceError(
    'invalid-option',
    `routes: ${show(pattern)} matches the same paths as ${show(taken)}, which comes first; accepted: one of them`,
  )
}

function newBranch(): Branch {
  return { fixed: new Map(), any: null, end: null, rest: null }
}

/**
 * Whether a string is a route pattern: a path with segments such as `{id}` or `:id`, and `{path*}` at the end.
 *
 * @example
 * ```ts
 * isRoutePattern('/orders/{id}') // true
 * isRoutePattern('/orders/*') // false: write /orders/{rest*}
 * isRoutePattern('/orders/[id]') // false: write /orders/{id}
 * ```
 */
export function isRoutePattern(text: string): boolean {
  return (
    text !== '' &&
    /^(?:\/(?:(?![[<][^/]*[\]>](?:\/|$))[^/{}*?#:\s]*|\{\w+\}|:\w+))*(?:\/\{\w+\*\})?$/.test(text)
  )
}

/** Adds a pattern. Returns the one that has its place: itself, or one that was there before. */
function declare(root: Branch, pattern: unknown): string {
  if (typeof pattern !== 'string' || !isRoutePattern(pattern)) throw wrong(pattern)
  const segments = pattern.split('/').filter((part) => part !== '')
  const others = segments.filter((segment) => /^[{:]/.test(segment)).length
  const declared: Declared = { pattern, rank: (segments.length - others) * MAX_SEGMENTS - others }
  let branch = root
  for (const segment of segments) {
    if (segment.endsWith('*}')) {
      branch.rest ??= declared
      return branch.rest.pattern
    }
    if (/^[{:]/.test(segment)) branch = branch.any ??= newBranch()
    else {
      const name = plainSegment(segment)
      let next = branch.fixed.get(name)
      if (next === undefined) branch.fixed.set(name, (next = newBranch()))
      branch = next
    }
  }
  branch.end ??= declared
  return branch.end.pattern
}

/** More segments than any pattern has. */
const MAX_SEGMENTS = 1e6

function wrong(pattern: unknown): SluiceError {
  return new SluiceError(
    'invalid-option',
    `routes: ${show(pattern)} is no pattern; accepted: a list of strings such as /orders, /orders/{id}, /orders/:id or /files/{path*}`,
  )
}

/** A fixed segment before any, any before the rest. */
function find(branch: Branch, segments: Segments, i: number): Declared | null {
  if (i === segments.length) return branch.end
  const fixed = branch.fixed.get(segments[i] as string)
  const found = fixed === undefined ? null : find(fixed, segments, i + 1)
  if (found !== null) return found
  const any = branch.any === null ? null : find(branch.any, segments, i + 1)
  return any ?? branch.rest
}

const METHODS = new Set([
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'QUERY',
  'TRACE',
  'CONNECT',
])

/**
 * The method as keys contain it: HEAD counts as GET, and all unknown methods as one.
 *
 * @example
 * ```ts
 * methodName('head') // 'GET'
 * ```
 */
export function methodName(method: string): string {
  if (METHODS.has(method)) return method
  const upper = method.toUpperCase()
  return upper === 'HEAD' ? 'GET' : METHODS.has(upper) ? upper : '*other'
}

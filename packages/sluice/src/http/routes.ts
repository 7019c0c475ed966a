// Route templates for keys: what the framework matched, or the declared pattern; never the path itself.
import { show, SluiceError } from '../errors.ts'

/** The template of everything that matches no route, 404s among it. */
export const UNMATCHED = '*unmatched'

/** The longest path that is looked at; a longer one matches nothing. */
const LONGEST_PATH = 4096

interface Branch {
  readonly fixed: Map<string, Branch>
  any: Branch | null
  /** The template that ends here, and the one that takes whatever follows. */
  end: string | null
  rest: string | null
}

/**
 * The template of a path among declared patterns such as `/orders/{id}` and `/files/{path*}`, or undefined. Case,
 * double and trailing slashes, dot segments and percent-encoding make no difference: a path that some router
 * would take for a route counts as that route.
 */
export function routeMatcher(patterns: readonly string[]): (path: string) => string | undefined {
  const root = newBranch()
  for (const pattern of patterns) declare(root, pattern)
  return (path) => {
    const segments = segmentsOf(path)
    return segments === undefined ? undefined : find(root, segments, 0)
  }
}

function newBranch(): Branch {
  return { fixed: new Map(), any: null, end: null, rest: null }
}

function declare(root: Branch, pattern: unknown): void {
  const isPattern =
    typeof pattern === 'string' &&
    /^(?:\/(?:[^/{}*?#:\s]*|\{\w+\}))*(?:\/\{\w+\*\})?$/.test(pattern)
  if (!isPattern || pattern === '')
    throw new SluiceError(
      'invalid-option',
      `routes: ${show(pattern)} is no pattern; accepted: texts such as /orders, /orders/{id} or /files/{path*}`,
    )
  let branch = root
  for (const segment of pattern.split('/').filter((part) => part !== '')) {
    if (segment.endsWith('*}')) {
      branch.rest ??= pattern
      return
    }
    if (segment.startsWith('{')) branch = branch.any ??= newBranch()
    else {
      const name = plain(segment)
      let next = branch.fixed.get(name)
      if (next === undefined) branch.fixed.set(name, (next = newBranch()))
      branch = next
    }
  }
  branch.end ??= pattern
}

/** A fixed segment before any, any before the rest. */
function find(branch: Branch, segments: readonly string[], i: number): string | undefined {
  if (i === segments.length) return branch.end ?? undefined
  const fixed = branch.fixed.get(segments[i] as string)
  const found = fixed === undefined ? undefined : find(fixed, segments, i + 1)
  if (found !== undefined) return found
  const any = branch.any === null ? undefined : find(branch.any, segments, i + 1)
  return any ?? branch.rest ?? undefined
}

/** The segments of a path as the most lenient router would read them. */
function segmentsOf(path: string): readonly string[] | undefined {
  let end = 0
  while (end < path.length && path[end] !== '?' && path[end] !== '#') end++
  if (end > LONGEST_PATH) return undefined
  const segments: string[] = []
  for (const part of path.slice(0, end).split('/')) {
    const segment = plain(part)
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return segments
}

function plain(segment: string): string {
  if (!segment.includes('%')) return segment.toLowerCase()
  try {
    return decodeURIComponent(segment).toLowerCase()
  } catch {
    // Not an encoding: what it is worth to a router nobody knows, but it is no other route.
    return segment.toLowerCase()
  }
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

/** The method as it stands in a key: HEAD counts as GET, and what is not known as one. */
export function methodText(method: string): string {
  if (METHODS.has(method)) return method
  const upper = method.toUpperCase()
  return upper === 'HEAD' ? 'GET' : METHODS.has(upper) ? upper : '*other'
}

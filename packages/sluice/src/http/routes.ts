// Route templates for keys: what the framework matched, or the declared pattern; never the path itself.
import { show, SluiceError } from '../errors.ts'
import { pathReadings, plainSegment, type Segments } from './path-readings.ts'

/** The template of everything that matches no route, 404s among it. */
export const UNMATCHED = '*unmatched'

/** A declared pattern; the rank tells which of two says more: fixed segments for it, others against it. */
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
 * The template of a path among declared patterns such as `/orders/{id}` and `/files/{path*}`, or undefined. Case,
 * double and trailing slashes, dot segments and percent-encoding make no difference: a path that some router
 * would take for a route counts as that route. Where routers would take it for several, the pattern that says most
 * counts; with `asSent`, for frameworks that leave dots and slashes alone, theirs.
 */
export function routeMatcher(
  patterns: readonly string[],
  asSent = false,
): (path: string) => string | undefined {
  if (!Array.isArray(patterns)) throw wrong(patterns)
  const root = newBranch()
  for (const pattern of patterns) declare(root, pattern)
  return (path) => {
    let best: Declared | null = null
    for (const segments of pathReadings(path)) {
      const found = find(root, segments, 0)
      if (found !== null && (best === null || found.rank > best.rank)) best = found
      if (asSent && best !== null) break
    }
    return best?.pattern
  }
}

function newBranch(): Branch {
  return { fixed: new Map(), any: null, end: null, rest: null }
}

function declare(root: Branch, pattern: unknown): void {
  const isPattern =
    typeof pattern === 'string' &&
    /^(?:\/(?:[^/{}*?#:\s]*|\{\w+\}))*(?:\/\{\w+\*\})?$/.test(pattern)
  if (!isPattern || pattern === '') throw wrong(pattern)
  const segments = pattern.split('/').filter((part) => part !== '')
  const others = segments.filter((segment) => segment.startsWith('{')).length
  const declared: Declared = { pattern, rank: (segments.length - others) * MOST - others }
  let branch = root
  for (const segment of segments) {
    if (segment.endsWith('*}')) {
      branch.rest ??= declared
      return
    }
    if (segment.startsWith('{')) branch = branch.any ??= newBranch()
    else {
      const name = plainSegment(segment)
      let next = branch.fixed.get(name)
      if (next === undefined) branch.fixed.set(name, (next = newBranch()))
      branch = next
    }
  }
  branch.end ??= declared
}

/** More segments than a pattern has. */
const MOST = 1e6

function wrong(pattern: unknown): SluiceError {
  return new SluiceError(
    'invalid-option',
    `routes: ${show(pattern)} is no pattern; accepted: a list of texts such as /orders, /orders/{id} or /files/{path*}`,
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

/** The method as it stands in a key: HEAD counts as GET, and what is not known as one. */
export function methodName(method: string): string {
  if (METHODS.has(method)) return method
  const upper = method.toUpperCase()
  return upper === 'HEAD' ? 'GET' : METHODS.has(upper) ? upper : '*other'
}

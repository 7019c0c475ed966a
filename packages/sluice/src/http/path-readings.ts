// The segments of a path, in every way in which some router reads it.

/** The segments of one reading: decoded, in lower case, none empty. */
export type Segments = readonly string[]

/** `http://host` of a target in absolute form, which proxies send and every server takes. */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/\\?#]*/i

/**
 * The readings of a request target, the plainest first: as it was sent, which is nearly always the only one. Routers
 * differ about dot segments, backslashes, and what follows a double slash at the beginning: `new URL(target, base)`
 * takes it for a host.
 */
export function pathReadings(target: string): readonly Segments[] {
  const path = pathIn(target)
  const sent = segmentsOf(path)
  const isPlain = !path.startsWith('//') && !path.includes('\\') && !sent.some(isDots)
  if (isPlain) return [sent]
  const slashed = path.replaceAll('\\', '/')
  const readings = [sent, resolved(sent), resolved(segmentsOf(slashed))]
  if (slashed.startsWith('//')) readings.push(resolved(segmentsOf(slashed).slice(1)))
  return readings
}

function pathIn(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(ORIGIN, '')
  let end = 0
  while (end < path.length && path[end] !== '?' && path[end] !== '#') end++
  return path.slice(0, end)
}

function segmentsOf(path: string): Segments {
  return path
    .split('/')
    .filter((part) => part !== '')
    .map(plainSegment)
}

function isDots(segment: string): boolean {
  return segment === '.' || segment === '..'
}

function resolved(segments: Segments): Segments {
  const left: string[] = []
  for (const segment of segments) {
    if (segment === '..') left.pop()
    else if (segment !== '.') left.push(segment)
  }
  return left
}

/** A segment as the most lenient router compares it. */
export function plainSegment(segment: string): string {
  if (!segment.includes('%')) return segment.toLowerCase()
  try {
    return decodeURIComponent(segment).toLowerCase()
  } catch {
    // Not an encoding: what it is worth to a router nobody knows, but it is no other route.
    return segment.toLowerCase()
  }
}

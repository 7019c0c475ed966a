// The segments of a path, in every way in which some server reads it.

/** The segments of one reading: decoded, in lower case, none empty. */
export type Segments = readonly string[]

/** `http://host` of a target in absolute form, which proxies send and every server accepts. */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/\\?#]*/i

/** What servers read in different ways: `//`, dot segments, `\`, `;params`, dots and spaces at the end, and encoded forms of these. */
const AMBIGUOUS = /\/\/|[\\;]|%(?:2[ef]|5c|3b|25)|\/\.\.?(?:\/|$)|(?:\.|%20)$/i

/**
 * The readings of a request target, the one as it was sent first; nearly always it is the only one. Servers differ
 * about dot segments, backslashes, path parameters (`;x=1`), encoded slashes, and what follows a double slash at the
 * beginning: `new URL(target, base)` takes it for a host.
 */
export function pathReadings(target: string): readonly Segments[] {
  const path = pathIn(target)
  const sent = segmentsOf(path)
  if (!AMBIGUOUS.test(path)) return [sent]
  const readings = [
    sent,
    withoutDotSegments(path.split('/')),
    withoutDotSegments(path.split(/\/+/)),
  ]
  const once = decodePath(path)
  const spellings = new Set([path, once, decodePath(once)])
  for (const spelling of spellings) {
    for (const cut of [
      spelling,
      spelling.replaceAll(/;[^/]*/g, ''),
      withoutTrailingDots(spelling),
    ]) {
      const slashed = cut.replaceAll('\\', '/')
      // Some servers merge double slashes before they resolve dots, some do not.
      for (const parts of [slashed.split('/'), slashed.split(/\/+/)]) {
        readings.push(parts.filter(Boolean).map(plainSegment), withoutDotSegments(parts))
        if (slashed.startsWith('//'))
          readings.push(withoutDotSegments(parts.filter(Boolean).slice(1)))
      }
    }
  }
  const distinct = new Map(readings.map((segments) => [segments.join('\n'), segments]))
  return [...distinct.values()]
}

/** Whether servers may read a target in different ways. */
export function isAmbiguous(target: string): boolean {
  return AMBIGUOUS.test(pathIn(target)) && pathReadings(target).length > 1
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

/** The segments without dot segments (RFC 3986 §5.2.4), and then without empty ones. */
function withoutDotSegments(parts: readonly string[]): Segments {
  const kept: string[] = []
  for (const [i, part] of parts.entries()) {
    const segment = plainSegment(part)
    // The empty part before the first slash is not a segment.
    if (i === 0 && segment === '') continue
    if (segment === '..') kept.pop()
    else if (segment !== '.') kept.push(segment)
  }
  return kept.filter((segment) => segment !== '')
}

/** The path without dots and spaces at its end, which Caddy ignores. */
function withoutTrailingDots(path: string): string {
  let end = path.length
  while (path[end - 1] === '.' || path[end - 1] === ' ') end--
  return path.slice(0, end)
}

/** The whole path decoded once; what is no encoding stays. */
function decodePath(path: string): string {
  return path.replaceAll(/(?:%[\da-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      // Servers decode byte by byte: a byte that is no text must not hide the slash beside it.
      return encoded.replaceAll(/%[0-7][\da-f]/gi, decodeURIComponent)
    }
  })
}

/** A segment as the most lenient server compares it. */
export function plainSegment(segment: string): string {
  if (!segment.includes('%')) return segment.toLowerCase()
  try {
    return decodeURIComponent(segment).toLowerCase()
  } catch {
    // Not an encoding, so it matches no other route.
    return segment.toLowerCase()
  }
}

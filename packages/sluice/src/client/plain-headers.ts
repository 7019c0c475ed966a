// Reads headers of libraries that keep them in plain objects.
import type { HeaderReader } from './hints/quota.ts'

/** Reads headers from an object with names in any case; they are asked for in lower case. A list of values is joined with commas. */
export function plainHeaders(headers: object): HeaderReader {
  const known = new Map<string, string>()
  for (const [name, value] of Object.entries(headers) as Iterable<[string, unknown]>) {
    if (typeof value === 'string' || typeof value === 'number')
      known.set(name.toLowerCase(), String(value))
    else if (Array.isArray(value)) known.set(name.toLowerCase(), value.join(', '))
  }
  return { get: (name) => known.get(name) }
}

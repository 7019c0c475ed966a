// Headers of libraries that keep them in objects, read by name.
import type { HeaderReader } from './hints/quota.ts'

/** Reads headers from an object, whatever the case of its names; several values are joined as HTTP joins them. */
export function plainHeaders(headers: object): HeaderReader {
  const known = new Map<string, string>()
  for (const [name, value] of Object.entries(headers) as Iterable<[string, unknown]>) {
    if (typeof value === 'string' || typeof value === 'number')
      known.set(name.toLowerCase(), String(value))
    else if (Array.isArray(value)) known.set(name.toLowerCase(), value.join(', '))
  }
  return { get: (name) => known.get(name) }
}

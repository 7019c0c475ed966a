// The request fields that name a caller: read once for all listeners, so that no spelling gives a second identity.
import type { IncomingMessage } from 'node:http'
import { RequestError } from './problem.ts'

/** A field's name as programs behind CGI and WSGI read it: they do not tell `_` from `-`, nor capital letters. */
export function plainName(name: string): string {
  const lower = name.toLowerCase()
  return lower.includes('_') ? lower.replaceAll('_', '-') : lower
}

/**
 * The value of a field by its lower-case name with hyphens, however it is spelled; several lines are joined with
 * commas.
 */
export function fieldOf(
  { headers, rawHeaders: raw }: IncomingMessage,
  name: string,
): string | undefined {
  const value = headers[name]
  if (value !== undefined) return Array.isArray(value) ? value.join(', ') : value
  for (let i = 0; i < raw.length; i += 2) {
    const other = raw[i]!
    if (other.length === name.length && other.includes('_') && plainName(other) === name)
      return raw[i + 1]
  }
  return undefined
}

/**
 * Throws when a field by which requests are counted occurs twice: the request would be counted as one caller and
 * served as another. `counted` has lower-case names with hyphens.
 */
export function refuseDoubled(raw: readonly string[], counted: ReadonlySet<string>): void {
  if (counted.size === 0) return
  let seen: Set<string> | undefined
  for (let i = 0; i < raw.length; i += 2) {
    const name = plainName(raw[i]!)
    if (!counted.has(name)) continue
    if (seen?.has(name))
      throw new RequestError(400, 'invalid-field', `there are two ${name} fields`, name)
    ;(seen ??= new Set()).add(name)
  }
}

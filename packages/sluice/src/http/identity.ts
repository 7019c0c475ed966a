// The sender of a request: identities from header fields, API keys as hashes.
import { SluiceError } from '../errors.ts'
import { sha256 } from '../key/sha256.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import { wrong, type Identify } from './options.ts'
import { show } from '../errors.ts'

/**
 * The hash used in place of an API key in attributes and keys: no store and no log holds the key itself.
 *
 * @example
 * ```ts
 * limiter.check({ apiKey: apiKeyHash('sk_live_1') })
 * ```
 */
export function apiKeyHash(apiKey: string): string {
  return sha256(apiKey)
}

/** Marks functions that read a header field. */
const FIELD = Symbol('sluice.field')

/**
 * Reads an identity from a header field: `apiKey: fromHeader('x-api-key')`. A request that has the field twice, or
 * spells it with `_` for `-`, is refused with 400: the application may read another line than the one that counts.
 *
 * @example
 * ```ts
 * rateLimit({ limit: '100/min', user: fromHeader('x-user-id') })
 * ```
 */
export function fromHeader(name: string): Identify<unknown> {
  if (typeof name !== 'string' || !/^[!#$%&'*+.^`|~\w-]+$/.test(name))
    throw wrong(`fromHeader: ${show(name)} is no field name; accepted: a name such as x-api-key`)
  const read: Identify<unknown> = () => {
    throw wrong(`fromHeader(${show(name)}) is an option of rateLimit, not a function to call`)
  }
  return Object.assign(read, { [FIELD]: plainName(name) })
}

/** The function that reads an identity of a framework's requests. */
export function identityReader<Q, S>(
  adapter: FrameworkAdapter<Q, S>,
  identify: Identify<Q>,
): Identify<Q> {
  const { [FIELD]: field } = identify as { [FIELD]?: string }
  if (field === undefined) return identify
  return (request) => {
    const lines = adapter.fieldLines?.(request, field)
    const value = adapter.header(request, field)
    // One line under another spelling: this server would not see it, but a program run by CGI or WSGI would.
    if (lines !== undefined && lines !== (value === undefined ? 0 : 1))
      throw new SluiceError(
        'invalid-attributes',
        `a request has the field ${field} twice, or spells it with an underscore; it is refused`,
      )
    return value
  }
}

/** A field name as CGI programs compare it: in lower case, `_` as `-`. */
function plainName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

/** Counts the lines of Node's `rawHeaders`, names and values in turn, that are a field or spell it with `_` for `-`. */
export function countFieldLines(rawHeaders: readonly string[], field: string): number {
  let lines = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === field.length && plainName(name) === field) lines += 1
  }
  return lines
}

/** {@link countFieldLines} for fetch's `Headers`, which join lines: a comma counts as a second line. */
export function countHeaders(headers: Headers, field: string): number {
  let lines = 0
  for (const [name, value] of headers)
    if (name.length === field.length && plainName(name) === field)
      lines += value.includes(',') ? 2 : 1
  return lines
}

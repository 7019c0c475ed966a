// The one table of header dialects, for adapters, proxies and Envoy: each name has one meaning everywhere.
import { show, SluiceError } from '../../errors.ts'
import type { Dialect, FieldAccess, ReportedLimit } from './dialect.ts'
import { draft7, triple } from './older-dialects.ts'
import { structured } from './structured.ts'

/** The name of a header dialect. `structured` is the newest draft; `draft-8` to `draft-11` are the same on the wire. */
export type DialectName =
  | 'structured'
  | 'draft-11'
  | 'draft-10'
  | 'draft-9'
  | 'draft-8'
  | 'draft-7'
  | 'draft-6'
  | 'draft-3'
  | 'ratelimit-triple'
  | 'x-ratelimit-epoch'
  | 'x-ratelimit-delta'

/** Creates each dialect; dialects remember strings that they wrote, so every user of one creates its own. */
const TABLE: Readonly<Record<DialectName, () => Dialect>> = {
  /** RateLimit-Policy and RateLimit as lists that name every limit: drafts 8 to 11. */
  structured,
  'draft-11': structured,
  'draft-10': structured,
  'draft-9': structured,
  'draft-8': structured,
  /** The same field names: a list of policies, and a dictionary of the tightest limit. */
  'draft-7': draft7,
  /** RateLimit-Limit, -Remaining, -Reset in seconds from now, and RateLimit-Policy. */
  'draft-6': () =>
    triple({ prefix: 'RateLimit', reset: 'seconds from now', policies: 'own field' }),
  /** RateLimit-Limit with the policies behind it, -Remaining, -Reset in seconds from now. */
  'draft-3': () =>
    triple({ prefix: 'RateLimit', reset: 'seconds from now', policies: 'behind the limit' }),
  /** RateLimit-Limit, -Remaining, -Reset in seconds from now, without policies: what envoyproxy/ratelimit writes. */
  'ratelimit-triple': () =>
    triple({ prefix: 'RateLimit', reset: 'seconds from now', policies: 'none' }),
  /** X-RateLimit-*, the reset in seconds since the epoch: what GitHub's clients read. */
  'x-ratelimit-epoch': () =>
    triple({ prefix: 'X-RateLimit', reset: 'seconds since the epoch', policies: 'none' }),
  /** X-RateLimit-*, the reset in seconds from now: what Envoy writes. */
  'x-ratelimit-delta': () =>
    triple({ prefix: 'X-RateLimit', reset: 'seconds from now', policies: 'none' }),
}

/** The names of all header dialects, newest first. */
export const DIALECT_NAMES = Object.keys(TABLE) as readonly DialectName[]

/** The dialect of a name. */
export function dialectOf(name: DialectName): Dialect {
  return TABLE[name]()
}

/** What to write for names that have two meanings in the field. */
const AMBIGUOUS: Readonly<Record<string, string>> = {
  'x-ratelimit':
    'x-ratelimit-epoch (reset in seconds since the epoch) or x-ratelimit-delta (in seconds from now)',
}

/** The dialects of a list of names. Throws `invalid-option` for unknown names and for two that write the same field. */
export function dialectsOf(names: readonly DialectName[]): readonly Dialect[] {
  const list = [...new Set(names)]
  const writers = new Map<string, DialectName>()
  return list.map((name) => {
    if (!DIALECT_NAMES.includes(name)) throw unknownDialect(name)
    const dialect = dialectOf(name)
    for (const field of dialect.fields) {
      const other = writers.get(field)
      if (other !== undefined)
        throw new SluiceError(
          'invalid-option',
          `headers: ${other} and ${name} both write ${field}; accepted: one of them`,
        )
      writers.set(field, name)
    }
    return dialect
  })
}

/** The error for a value that names no dialect. */
export function unknownDialect(value: unknown): SluiceError {
  const meant = typeof value === 'string' ? AMBIGUOUS[value] : undefined
  return new SluiceError(
    'invalid-option',
    `headers: ${show(value)} is no header dialect; accepted: ${meant ?? `${DIALECT_NAMES.join(', ')}, a list of these, or false`}`,
  )
}

/** One header field. */
export type Field = readonly [name: string, value: string]

/**
 * Makes the function that writes the fields of some limits as a list, for protocols that have no response object.
 * Throws `invalid-option` like {@link dialectsOf}.
 *
 * @example
 * ```ts
 * const write = headerFields(['draft-8', 'x-ratelimit-epoch'])
 * ```
 */
export function headerFields(
  names: readonly DialectName[],
): (reported: readonly ReportedLimit[]) => readonly Field[] {
  const dialects = dialectsOf(names)
  return (reported) => {
    const fields = new Map<string, string>()
    if (reported.length > 0)
      for (const dialect of dialects) dialect.write(MAP_ACCESS, fields, reported, null)
    return [...fields]
  }
}

const MAP_ACCESS: FieldAccess<Map<string, string>> = {
  get: (fields, name) => fields.get(name),
  set: (fields, name, value) => void fields.set(name, value),
}

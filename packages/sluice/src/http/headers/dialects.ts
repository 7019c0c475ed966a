// The one table of header dialects, for adapters, proxies and Envoy: each name has one meaning everywhere.
import { show, SluiceError } from '../../errors.ts'
import { closestName } from '../../options/suggest.ts'
import type { Dialect, FieldAccess, ReportedLimit } from './dialect.ts'
import { draft7, triple } from './older-dialects.ts'
import { structured } from './structured.ts'

/** Creates a dialect. Dialects remember strings that they wrote, so every user of one creates its own. */
type CreateDialect = () => Dialect

/** The rows: a name, and what creates its dialect. (`as` states the type, since declarations are made file by file.) */
const TABLE = {
  /** RateLimit-Policy and RateLimit as lists that name every limit: drafts 8 to 11. */
  structured: structured as CreateDialect,
  'draft-11': structured as CreateDialect,
  'draft-10': structured as CreateDialect,
  'draft-9': structured as CreateDialect,
  'draft-8': structured as CreateDialect,
  /** The same field names: a list of policies, and a dictionary of the tightest limit. */
  'draft-7': draft7 as CreateDialect,
  /** RateLimit-Limit, -Remaining, -Reset in seconds from now, and RateLimit-Policy. */
  'draft-6': (() =>
    triple({
      prefix: 'RateLimit',
      reset: 'seconds from now',
      policies: 'own field',
    })) as CreateDialect,
  /** RateLimit-Limit followed by the policies, -Remaining, -Reset in seconds from now. */
  'draft-3': (() =>
    triple({
      prefix: 'RateLimit',
      reset: 'seconds from now',
      policies: 'after the limit',
    })) as CreateDialect,
  /** RateLimit-Limit, -Remaining, -Reset in seconds from now, without policies: what envoyproxy/ratelimit writes. */
  'ratelimit-triple': (() =>
    triple({ prefix: 'RateLimit', reset: 'seconds from now', policies: 'none' })) as CreateDialect,
  /** X-RateLimit-*, the reset in seconds since the epoch: what GitHub's clients read. */
  'x-ratelimit-epoch': (() =>
    triple({
      prefix: 'X-RateLimit',
      reset: 'seconds since the epoch',
      policies: 'none',
    })) as CreateDialect,
  /** X-RateLimit-*, the reset in seconds from now: what Envoy writes. */
  'x-ratelimit-delta': (() =>
    triple({
      prefix: 'X-RateLimit',
      reset: 'seconds from now',
      policies: 'none',
    })) as CreateDialect,
}

/**
 * The name of a header dialect. `structured` is the newest draft; `draft-8` to `draft-11` are the same on the wire.
 *
 * @example
 * ```ts
 * const headers: DialectName = 'draft-7'
 * ```
 */
export type DialectName = keyof typeof TABLE

/**
 * The names of all header dialects, newest first.
 *
 * @example
 * ```ts
 * DIALECT_NAMES.includes('draft-7') // true
 * ```
 */
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
  const name = typeof value === 'string' ? value : ''
  // Of an unknown draft, no other draft is meant.
  const near = /^draft-\d+$/.test(name) ? undefined : closestName(name, DIALECT_NAMES)
  const hint = near === undefined ? '' : `did you mean ${near}? `
  const accepted = AMBIGUOUS[name] ?? `${DIALECT_NAMES.join(', ')}, a list of these, or false`
  return new SluiceError(
    'invalid-option',
    `headers: ${show(value)} is no header dialect; ${hint}accepted: ${accepted}`,
  )
}

/**
 * One header field.
 *
 * @example
 * ```ts
 * const field: Field = ['Retry-After', '3']
 * ```
 */
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

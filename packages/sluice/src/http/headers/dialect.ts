// What a header dialect is: it writes what a response says of its limits.
import type { Limit } from '../../limit/limit.ts'
import type { Source } from '../../limit/verdict.ts'
import type { Millis } from '../../time/clock.ts'

/**
 * What header fields can say of one limit. Outcomes of decisions fit, and so does anything with these members.
 *
 * @example
 * ```ts
 * const outcomes: readonly ReportedLimit[] = visibleOutcomes(decision)
 * ```
 */
export interface ReportedLimit {
  /** The name that clients see. */
  readonly rule: string
  readonly limit: Limit
  readonly allowed: boolean
  /** Units left after this request. */
  readonly remaining: number
  /** Until the same request would be allowed: 0 when it was, null when it never will be. */
  readonly retryAfter: Millis | null
  /** Until the count is as good as new. */
  readonly resetAfter: Millis
  /** Until one more unit is available. */
  readonly availableAfter: Millis
  /** Who answered. Of a limit that a lease has allowed, the numbers above are bounds and are not written. */
  readonly source?: Source | undefined
}

/**
 * Reads and writes header fields of a response.
 *
 * @example
 * ```ts
 * const access: FieldAccess<Response> = {
 *   get: (response, name) => response.headers.get(name) ?? undefined,
 *   set: (response, name, value) => response.headers.set(name, value),
 * }
 * ```
 */
export interface FieldAccess<S> {
  /** A field that the response already has. */
  get(response: S, name: string): string | undefined
  set(response: S, name: string, value: string): void
}

/** The partition key of a limit as base64; null when keys are not shown. */
type PartitionKey = ((reported: ReportedLimit) => string | undefined) | null

/** Writes its fields into a response. Lists of others are continued; single numbers of others stay when they are stricter. */
export interface Dialect {
  /** The names of all fields that it may write. */
  readonly fields: readonly string[]
  /** Writes the fields of one or more limits. */
  write<S>(
    access: FieldAccess<S>,
    response: S,
    reported: readonly ReportedLimit[],
    partitionKey: PartitionKey,
  ): void
}

// What a header dialect is, and the arithmetic that all dialects share.
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
export type PartitionKey = ((reported: ReportedLimit) => string | undefined) | null

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

/**
 * Whether the numbers say what the whole count has left. A lease knows only its own units: it may have none when nearly all
 * of the limit is free, and a client that is told so stops without need.
 */
export function tellsRest({ allowed, source }: ReportedLimit): boolean {
  return !allowed || source !== 'lease'
}

/** The most units at once: what header fields call the quota. */
export function reportedQuota(limit: Limit): number {
  return limit.burst
}

/**
 * The window in whole seconds, at least 1. For a bucket it is the time that fills it from empty: then quota ÷ window
 * is the true rate, and `remaining` never exceeds the quota.
 */
export function windowOf({ quota, window, burst }: Limit): number {
  const millis = quota === 0 ? window : (burst * window) / quota
  return Math.max(1, secondsItem(millis))
}

/** The largest integer that a structured field can hold (RFC 9651 §3.3.1). */
const MAX_INTEGER = 999_999_999_999_999

/** A String item (RFC 9651). Characters that a header cannot carry become `?`: no name can end the line or the quotes. */
export function stringItem(value: string): string {
  return `"${value.replaceAll(/[^ -~]/g, '?').replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

/** An Integer item, 0 or more. */
export function integerItem(value: number): number {
  return value < MAX_INTEGER ? Math.max(0, Math.floor(value)) : MAX_INTEGER
}

/** Milliseconds as whole seconds, rounded up. */
export function secondsItem(millis: Millis): number {
  return integerItem(Math.ceil(millis / 1000))
}

/**
 * The value of Retry-After: whole seconds, at least 1, never before the wait is over; up to `spread` later at random,
 * so that clients that were refused together do not return together. Undefined when the request can never be allowed.
 *
 * @example
 * ```ts
 * retryAfterSeconds(1500) // 2
 * ```
 */
export function retryAfterSeconds(wait: Millis | null, spread: Millis = 0): number | undefined {
  if (wait === null) return undefined
  const later = spread === 0 ? 0 : Math.random() * spread
  return Math.max(1, secondsItem(wait + later))
}

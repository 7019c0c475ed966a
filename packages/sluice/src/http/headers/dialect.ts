// What a header dialect is: a way to tell clients about the limits that they met.
import type { VisibleOutcome } from '../../decision/lazy-decision.ts'
import type { Limit } from '../../limit/limit.ts'
import type { Port } from '../port.ts'
import { secondsItem } from './structured-fields.ts'

/** The partition key of an outcome as base64; null when keys are not shown. */
export type PartitionKey = ((outcome: VisibleOutcome) => string | undefined) | null

/** Writes its fields into a response. Fields that others have written are joined, or kept when they are stricter. */
export interface Dialect {
  /** The fields, for `Access-Control-Expose-Headers`. */
  readonly fields: readonly string[]
  /** Tells of at least one outcome. */
  write<Q, S>(
    port: Port<Q, S>,
    response: S,
    outcomes: readonly VisibleOutcome[],
    partitionKey: PartitionKey,
  ): void
}

/** The most units that fit at once: what headers call the quota. */
export function quotaOf(limit: Limit): number {
  return limit.burst
}

/**
 * The window in whole seconds, at least 1. For a bucket, the time that fills it from empty: so the ratio of
 * the two is the true rate, and no more than the quota is ever left.
 */
export function windowOf({ quota, window, burst }: Limit): number {
  const millis = quota === 0 ? window : (burst * window) / quota
  return Math.max(1, secondsItem(millis))
}

/** The outcome that a client should mind first: a refusal with the longest wait, else the least remaining. */
export function tightest(outcomes: readonly VisibleOutcome[]): VisibleOutcome {
  let tight = outcomes[0] as VisibleOutcome
  if (outcomes.length === 1) return tight
  for (const outcome of outcomes) if (isTighter(outcome, tight)) tight = outcome
  return tight
}

function isTighter(a: VisibleOutcome, b: VisibleOutcome): boolean {
  if (a.allowed !== b.allowed) return b.allowed
  if (a.allowed) return a.remaining < b.remaining
  return (a.retryAfter ?? Infinity) > (b.retryAfter ?? Infinity)
}

/** Milliseconds until the reset that the older dialects speak of: on a refusal the wait, else until all is free. */
export function resetOf(outcome: VisibleOutcome): number {
  // Each number is worked out when it is read, so only those that are told.
  if (outcome.allowed) return outcome.resetAfter
  return outcome.retryAfter ?? outcome.resetAfter
}

/** Whether a response already says that less is left than this outcome does. */
export function saysLess(existing: string | undefined, outcome: VisibleOutcome): boolean {
  return existing !== undefined && /^\d+$/.test(existing) && Number(existing) < outcome.remaining
}

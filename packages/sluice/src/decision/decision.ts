// The answer to a request: what each rule said, and what follows from it.
import type { ErrorCode } from '../errors.ts'
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Millis } from '../time/clock.ts'

/**
 * Why a request was allowed or refused: every rule had room, a rule had none, no rule spoke, the store could not
 * answer and the rule says to refuse then, or an operator of the service has blocked it for a time.
 */
export type Reason = 'within-limit' | 'over-limit' | 'no-rule' | 'unavailable' | 'blocked'

/** Who answered: the store, units leased from it, the stand-in, or nobody (the rule lets through). */
export type Source = 'store' | 'lease' | 'fallback' | 'open'

/** The verdict of one rule. */
export interface Outcome extends Verdict {
  readonly rule: string
  readonly limit: Limit
  readonly cost: number
  readonly source: Source
  /** Counted, but without a say in the decision. */
  readonly shadow: boolean
  /** Not to be shown to the caller of the service. */
  readonly hidden: boolean
}

/** A rule that did not speak although its conditions held. */
export interface Skipped {
  readonly rule: string
  /** The attribute that is not known, or undefined when the key is unlimited. */
  readonly missing?: string
}

/** The answer to one request. Durations are whole milliseconds from now, rounded up. */
export interface Decision {
  readonly allowed: boolean
  readonly reason: Reason
  /** The binding rule: the refusing one with the longest wait, else the one nearest to refusing; null when none spoke. */
  readonly rule: string | null
  /** The binding rule's limit. */
  readonly limit: Limit | null
  /** Units that the binding rule still has; Infinity (null in JSON) when no rule spoke. */
  readonly remaining: number
  /** 0 when allowed; the longest wait among the refusing rules; null when this cost can never be allowed. */
  readonly retryAfter: Millis | null
  /** Until the binding rule's count is as good as new. */
  readonly resetAfter: Millis
  /** How long to hold an allowed request before it goes on (leaky bucket). */
  readonly delay: Millis
  /** The instant of the decision, by the store's clock; what `refund` wants to know. 0 when no rule spoke. */
  readonly at: Millis
  /** True when a stand-in answered for the store. */
  readonly degraded: boolean
  /** When degraded: why the store did not answer, such as `store-timeout`. */
  readonly cause?: ErrorCode
  /** What every rule that spoke said, in the policy's order. */
  readonly outcomes: readonly Outcome[]
  readonly skipped: readonly Skipped[]
}

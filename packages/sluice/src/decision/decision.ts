// The answer to a request: the outcome of each rule, and what follows from them.
import type { ErrorCode } from '../errors.ts'
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Millis } from '../time/clock.ts'

/**
 * Why a request was allowed or refused: every rule had room, a rule had none, no rule applied, the store could not
 * answer and the rule refuses then, an operator has blocked the caller for a time, or a lockout has after many refusals.
 *
 * @example
 * ```ts
 * const isOurFault = (reason: Reason): boolean => reason === 'unavailable'
 * ```
 */
export type Reason =
  | 'within-limit'
  | 'over-limit'
  | 'no-rule'
  | 'unavailable'
  | 'blocked'
  | 'locked-out'

/**
 * The verdict of one rule.
 *
 * @example
 * ```ts
 * const tight = (outcome: Outcome): boolean => outcome.remaining < outcome.limit.quota / 10
 * const rules = decision.outcomes.filter(tight)
 * ```
 */
export interface Outcome extends Omit<Verdict, 'appliedLimit'> {
  readonly rule: string
  readonly limit: Limit
  readonly cost: number
  /** Counted, but never enforced. */
  readonly shadow: boolean
  /** True when a soft limit (`onExceed: 'mark'`) has no room for the request; absent otherwise. */
  readonly marked?: boolean
  /** Not to be shown to the caller of the service. */
  readonly hidden: boolean
}

/**
 * A rule whose conditions held but that did not apply.
 *
 * @example
 * ```ts
 * for (const { rule, missing } of decision.skipped) console.log(rule, 'was skipped:', missing)
 * ```
 */
export interface Skipped {
  readonly rule: string
  /** The attribute that is not known, or undefined when the key is unlimited. */
  readonly missing?: string
}

/**
 * What one rule does with a request. Plain data.
 *
 * @example
 * ```ts
 * for (const { rule, effect, text } of limiter.describe('user:42')) console.log(rule, effect, text)
 * ```
 */
export interface RuleDescription {
  readonly rule: string
  /**
   * `enforced`: the rule may refuse the request. `shadow`: it counts the request and never refuses it. `unlimited`: a
   * tier or an override lifts the limit. `unmet`: a condition does not hold. `missing`: an attribute of `by` is not
   * known.
   */
  readonly effect: 'enforced' | 'shadow' | 'unlimited' | 'unmet' | 'missing'
  /** For `enforced` and `shadow`: the limit after tiers and overrides; else null. */
  readonly limit: Limit | null
  /** For `enforced` and `shadow`: units that the request takes; else 0. */
  readonly cost: number
  /** For `unmet` and `missing`: the attribute that decided. */
  readonly attribute?: string
  /** The same in one sentence. */
  readonly text: string
}

/**
 * What a limit on trial answered, next to the enforced one.
 *
 * @example
 * ```ts
 * for (const { rule, allowed, enforced } of decision.candidates ?? [])
 *   if (allowed !== enforced) console.log(rule, 'would decide otherwise')
 * ```
 */
export interface Candidate {
  readonly rule: string
  readonly limit: Limit
  readonly allowed: boolean
  readonly remaining: number
  /** Whether the rule's own limit allowed the request. */
  readonly enforced: boolean
  /** The place of the rule's check among those of the request. */
  readonly place: number
}

/**
 * The answer to one request. Durations are whole milliseconds from now, rounded up.
 *
 * @example
 * ```ts
 * const { allowed, remaining, retryAfter }: Decision = limiter.check('user:42')
 * if (!allowed) console.log(`retry in ${retryAfter} ms`)
 * ```
 */
export interface Decision {
  /** Names this refusal in a journal, if the limiter was given `identify`. */
  readonly id?: string | undefined
  readonly allowed: boolean
  readonly reason: Reason
  /** The binding rule: the refusing one with the longest wait, else the one nearest to refusing; null when none applied. */
  readonly rule: string | null
  /** The binding rule's limit. */
  readonly limit: Limit | null
  /** Units that the binding rule still has; Infinity (null in JSON) when no rule applied. */
  readonly remaining: number
  /** 0 when allowed; the longest wait among the refusing rules; null when this cost can never be allowed. */
  readonly retryAfter: Millis | null
  /** Until the binding rule's count is as good as new. */
  readonly resetAfter: Millis
  /** How long to hold an allowed request before its handler runs (leaky bucket). */
  readonly delay: Millis
  /** The instant of the decision, by the store's clock; pass it to `refund`. If no rule applied, nothing was charged and it is 0. */
  readonly at: Millis
  /** True when the store could not answer and a fallback did. */
  readonly degraded: boolean
  /** When degraded: why the store did not answer, such as `store-timeout`. */
  readonly cause?: ErrorCode | undefined
  /** The soft limits (`onExceed: 'mark'`) that an allowed request is over, by their rules; absent when there is none. */
  readonly marked?: readonly string[] | undefined
  /** The pools that paid for an allowed request, by their rules; absent when the limits did. Pass it to `refund`. */
  readonly pools?: Readonly<Record<string, string>> | undefined
  /** The outcome of every rule that applied, in the policy's order. */
  readonly outcomes: readonly Outcome[]
  /** What limits on trial answered. They change nothing else of the decision, and are not part of its JSON. */
  readonly candidates?: readonly Candidate[] | undefined
  readonly skipped: readonly Skipped[]
}

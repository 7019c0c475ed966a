// The seam between protocols and policies: every listener maps its requests to one of these limiters, by policy name.
import type { Limiter, MaybePromise, Policy, SyncLimiter } from 'sluice'
import type { Budget, SyncBudget } from 'sluice/budgets'

/** Decides requests: at once on the memory store, by promises on a remote one. */
export type ServiceLimiter = (Limiter | SyncLimiter) & {
  /** Reserves and enters by the same policy, if one of its rules has holds. */
  readonly budget?: ServiceBudget
  /** Whether a rule of the policy has `concurrency`. */
  readonly hasSlots?: boolean
}

/** Holds units: at once on the memory store, by promises on a remote one. */
export type ServiceBudget = Budget | SyncBudget

/**
 * The limiters of one state of the policy file. It never changes: a reload makes another one. A request reads it
 * once and finishes with what it began with.
 */
export interface Limiters {
  /** Counts the states: 1 at start, one more with each reload that took effect. */
  readonly generation: number
  /** The policies as they were parsed, in the file's order. */
  readonly policies: readonly Policy[]
  /** The limiter of a policy, or undefined when there is none of that name. */
  get(policy: string): ServiceLimiter | undefined
  /** The only policy's name when there is exactly one, else undefined. */
  readonly only: string | undefined
  /** The names of the policies, in the file's order. */
  names(): readonly string[]
}

/** What listeners hold: where the limiters of this moment are found. */
export interface LimiterSource {
  /** The limiters in force now. */
  readonly current: Limiters
}

/** Whether an answer is still to come. */
export function isPromise<T>(answer: MaybePromise<T>): answer is Promise<T> {
  return typeof answer === 'object' && answer !== null && 'then' in answer
}

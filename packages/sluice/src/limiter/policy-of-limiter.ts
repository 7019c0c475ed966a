// The policy of a limiter and what changes it at run time, so that adapters read the attributes that it uses and no others.
import type { Condition, PolicyInCode } from '../policy/policy.ts'

/** The condition of a block or an override that was set while a limiter runs; `what` names it in messages. */
export interface LiveCondition {
  readonly what: string
  readonly when: Condition
}

/** The policy of a limiter, and what changes it at run time. A change replaces the lists and sets; nothing else does. */
export interface LimiterPolicy {
  readonly policy: PolicyInCode
  /** Has the blocks and overrides that apply now. Absent: there never are any. */
  readonly controlled?: { readonly conditions: readonly LiveCondition[] } | undefined
  /** The attributes that the option `blocked` reads: null for any. Absent: there is no such option. */
  readonly blockedBy?: (() => ReadonlySet<string> | null) | undefined
}

const limiters = new WeakMap<object, LimiterPolicy>()

/** Remembers the policy of a limiter, or of a wrapper around one. */
export function rememberPolicy(limiter: object, limiterPolicy: LimiterPolicy): void {
  limiters.set(limiter, limiterPolicy)
}

/** The policy of a limiter; undefined for limiters that the library did not make. */
export function policyOfLimiter(limiter: object): LimiterPolicy | undefined {
  return limiters.get(limiter)
}

/** `blockedBy` of a limiter by its options: what `blocked` reads; any attribute if the options do not list them. */
export function blockedByOf({
  blocked,
  blockedBy,
}: {
  readonly blocked?: unknown
  readonly blockedBy?: (() => ReadonlySet<string>) | undefined
}): LimiterPolicy['blockedBy'] {
  return blocked === undefined ? undefined : (blockedBy ?? (() => null))
}

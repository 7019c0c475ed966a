// What a limiter decides by, so that adapters read the attributes that it uses and no others.
import type { Condition, PolicyInCode } from '../policy/policy.ts'

/** The condition of a block or an override that was set while a limiter runs; `what` names it in messages. */
export interface LiveCondition {
  readonly what: string
  readonly when: Condition
}

/** What a limiter decides by. The lists and sets are other ones after a change, and only then. */
export interface DecidedBy {
  readonly policy: PolicyInCode
  /** Has the blocks and overrides that hold. Absent: there never are any. */
  readonly controlled?: { readonly conditions: readonly LiveCondition[] } | undefined
  /** The attributes that the option `blocked` reads: null for any. Absent: there is no such option. */
  readonly blockedBy?: (() => ReadonlySet<string> | null) | undefined
}

const limiters = new WeakMap<object, DecidedBy>()

/** Remembers what a limiter, or a wrapper around one, decides by. */
export function rememberPolicy(limiter: object, decidedBy: DecidedBy): void {
  limiters.set(limiter, decidedBy)
}

/** What a limiter decides by; undefined for limiters of other makers. */
export function policyBehind(limiter: object): DecidedBy | undefined {
  return limiters.get(limiter)
}

/** `blockedBy` of a limiter by its options: what `blocked` reads, all of it where that is not said. */
export function readByBlocked({
  blocked,
  blockedBy,
}: {
  readonly blocked?: unknown
  readonly blockedBy?: (() => ReadonlySet<string>) | undefined
}): DecidedBy['blockedBy'] {
  return blocked === undefined ? undefined : (blockedBy ?? (() => null))
}

// Limiters that accept only the attributes that their policy names.
import type { Decision, RuleDescription } from '../decision/decision.ts'
import type { AttributesNamed } from '../policy/define-policy.ts'
import type { Millis } from '../time/clock.ts'
import type { Limiter, PaidPools, SyncLimiter } from './limiter.ts'

/**
 * A {@link Limiter} of a policy made by `definePolicy`.
 *
 * @example
 * ```ts
 * const ask = (limiter: TypedLimiter<'user' | 'plan'>) => limiter.check({ user: '42', plan: 'pro' })
 * ```
 */
export interface TypedLimiter<A extends string> extends Limiter {
  check(attributes: AttributesNamed<A>, cost?: number, signal?: AbortSignal): Promise<Decision>
  checkNow(attributes: AttributesNamed<A>, cost?: number): Decision | undefined
  peek(attributes: AttributesNamed<A>, cost?: number): Promise<Decision>
  refund(
    attributes: AttributesNamed<A>,
    cost?: number,
    takenAt?: Millis,
    pools?: PaidPools,
  ): Promise<void>
  reset(attributes: AttributesNamed<A>): Promise<void>
  describe(attributes: AttributesNamed<A>, cost?: number): readonly RuleDescription[]
}

/**
 * A {@link SyncLimiter} of a policy made by `definePolicy`.
 *
 * @example
 * ```ts
 * const ask = (limiter: TypedSyncLimiter<'user'>) => limiter.check({ user: '42' }).allowed
 * ```
 */
export interface TypedSyncLimiter<A extends string> extends SyncLimiter {
  check(attributes: AttributesNamed<A>, cost?: number): Decision
  peek(attributes: AttributesNamed<A>, cost?: number): Decision
  refund(attributes: AttributesNamed<A>, cost?: number, takenAt?: Millis, pools?: PaidPools): void
  reset(attributes: AttributesNamed<A>): void
  describe(attributes: AttributesNamed<A>, cost?: number): readonly RuleDescription[]
}

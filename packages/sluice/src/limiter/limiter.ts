// What applications hold: checks requests against a policy.
import type { Decision, RuleDescription } from '../decision/decision.ts'
import type { Attributes } from '../policy/policy.ts'
import type { Millis } from '../time/clock.ts'

/**
 * Pools that paid for a request, by their rules: the `pools` of its decision.
 *
 * @example
 * ```ts
 * const pools: PaidPools = { 'per-user': 'credits' }
 * ```
 */
export type PaidPools = Readonly<Record<string, string>>

/**
 * Decides requests. `check('user:42')` is `check({ key: 'user:42' })`.
 *
 * @example
 * ```ts
 * const limiter: Limiter = createLimiter({ limit: '100/min', store: redisStore(client) })
 * const { allowed } = await limiter.check('user:42')
 * ```
 */
export interface Limiter {
  /**
   * May this request go on? Charges every rule that applies, or none. An aborted signal ends the wait,
   * not the call: what is charged stays charged.
   */
  check(attributes: Attributes | string, cost?: number, signal?: AbortSignal): Promise<Decision>
  /**
   * `check` without a promise, when leases of this process cover the request. Undefined, with nothing charged, when the
   * store has to be called: call `check` then.
   */
  checkNow(attributes: Attributes | string, cost?: number): Decision | undefined
  /** What `check` would decide, without charging anything. */
  peek(attributes: Attributes | string, cost?: number): Promise<Decision>
  /**
   * Hands units back to every rule that applies; never above full. With `takenAt` (the decision's `at`),
   * units that time has already restored are not refunded again. With `pools` (the decision's), units go to the pools that paid.
   */
  refund(
    attributes: Attributes | string,
    cost?: number,
    takenAt?: Millis,
    pools?: PaidPools,
  ): Promise<void>
  /** Forgets the counts of every rule that applies. */
  reset(attributes: Attributes | string): Promise<void>
  /**
   * What each rule does with such a request: enforced, with which limit, or not, and why. Answers at once, from the
   * policy alone.
   */
  describe(attributes: Attributes | string, cost?: number): readonly RuleDescription[]
  /** Ends the limiter, and the store if the limiter made it. */
  close(): Promise<void>
}

/**
 * A {@link Limiter} on a store that answers at once: no promises.
 *
 * @example
 * ```ts
 * const limiter: SyncLimiter = createLimiter({ limit: '100/min' })
 * const { allowed } = limiter.check('user:42')
 * ```
 */
export interface SyncLimiter {
  check(attributes: Attributes | string, cost?: number): Decision
  peek(attributes: Attributes | string, cost?: number): Decision
  refund(attributes: Attributes | string, cost?: number, takenAt?: Millis, pools?: PaidPools): void
  reset(attributes: Attributes | string): void
  describe(attributes: Attributes | string, cost?: number): readonly RuleDescription[]
  close(): void
}

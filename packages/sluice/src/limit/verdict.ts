// The answer of one limit to one cost at one instant.
import type { ErrorCode } from '../errors.ts'
import type { Millis } from '../time/clock.ts'
import type { Limit } from './limit.ts'

/**
 * What decided: a remote store, this process's memory, units leased from the store, a refusal that is still known,
 * the fallback that counts while the store is unreachable, or the rule itself, which lets everything through
 * (`open`) or refuses everything (`closed`) meanwhile.
 *
 * @example
 * ```ts
 * const { source } = decision.outcomes[0] ?? {} // 'store', or 'fallback' while it is unreachable
 * ```
 */
export type Source = 'store' | 'memory' | 'lease' | 'cache' | 'fallback' | 'open' | 'closed'

/**
 * What a rule does while the store cannot answer: count in this process with a share of the limit, let everything
 * through, or refuse everything.
 *
 * @example
 * ```ts
 * const rule: Rule = { name: 'login', by: ['ip'], limit: '5/min', onStoreFailure: 'closed' }
 * ```
 */
export type OnStoreFailure = 'local' | 'open' | 'closed'

/**
 * How the processes of a fleet share the counts of a rule. `strict`: one round trip per request. `leased`: units are
 * taken in advance and spent without a round trip. `synced`: each process counts by itself and the counts are added up
 * every so often. `local`: each process has a share. `auto`: strict, and leased while a key is hot.
 */
export type Coordination = 'strict' | 'leased' | 'synced' | 'local' | 'auto'

/**
 * The answer of one limit. Durations are whole milliseconds from the instant of the decision, rounded up.
 *
 * @example
 * ```ts
 * const [verdict] = await store.take(checks)
 * if (verdict?.allowed === false) console.log(verdict.retryAfter)
 * ```
 */
export interface Verdict {
  readonly allowed: boolean
  /** The largest cost that would be allowed at the same instant, after this decision. */
  readonly remaining: number
  /**
   * 0 when allowed. A retry 1 ms earlier is refused; at that instant it passes, unless another request took the
   * unit. Null when this cost can never fit.
   */
  readonly retryAfter: Millis | null
  /** Until the count is as good as new, with no further traffic. Doubles as the state's time to live. */
  readonly resetAfter: Millis
  /** Until one more unit than `remaining` is free; 0 when all of them are. Never above `retryAfter`. */
  readonly availableAfter: Millis
  /** Leaky bucket: how long to hold an allowed request before it goes on. Else 0. */
  readonly delay: Millis
  /** The instant of the decision, by the clock of the store that made it. */
  readonly at: Millis
  /** What decided. */
  readonly source: Source
  /** Why the store did not answer, such as `store-timeout`; undefined when it did. */
  readonly cause?: ErrorCode | undefined
  /** True when a lockout shuts the key: `retryAfter` is then its end, or later. */
  readonly lockedOut?: boolean | undefined
  /** The pool that pays, if the rule's own limit has no room; absent otherwise. */
  readonly pool?: string | undefined
  /** Units that went out or were spent by this check, if it asked for a part of its cost. */
  readonly held?: number | undefined
  /** The limit that decided, where it is not the check's own: the fallback applies a share of it. */
  readonly appliedLimit?: Limit | undefined
}

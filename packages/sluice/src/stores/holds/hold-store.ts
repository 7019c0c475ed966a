// The seam of stores that record units that are out: reservations, slots and leases.
import type { Limit } from '../../limit/limit.ts'
import type { Verdict } from '../../limit/verdict.ts'
import type { Millis } from '../../time/clock.ts'
import type { AsyncStore, Check, MaybePromise, RemoteStore, Store, SyncStore } from '../store.ts'

/**
 * What became of the units of one hold. What is neither spent nor kept is handed back.
 *
 * @example
 * ```ts
 * const settlement: Settlement = {
 *   ...{ space: 'llm/tokens', key: 'search', limit: limit('9000/min') },
 *   ...{ id: 'a1', spent: 870, keep: 0 },
 * }
 * ```
 */
export interface Settlement {
  readonly space: string
  readonly key: string
  readonly limit: Limit
  readonly slowestQuota?: number | undefined
  /** The hold. */
  readonly id: string
  /** Units that were spent, also beyond what was out: those are charged as far as there is room. */
  readonly spent: number
  /** Units that stay out; more than are left means all of them. */
  readonly keep: number
  /** Milliseconds from now to the new end of what stays out. Default: the end stays. */
  readonly life?: Millis | undefined
  /** Units by which the charge may exceed the limit. Default 0. */
  readonly debt?: number | undefined
}

/**
 * `settled`: the hold was out. `late`: it had ended, and what was spent is charged like a plain cost. `repeated`: it
 * was settled before, and nothing is charged again. `unknown`: the store has no such hold, and nothing is charged.
 *
 * @example
 * ```ts
 * const charged: SettledStatus[] = ['settled', 'late']
 * ```
 */
export type SettledStatus = 'settled' | 'late' | 'repeated' | 'unknown'

/**
 * The answer to a settlement.
 *
 * @example
 * ```ts
 * const isFirst = ({ status }: Settled): boolean => status !== 'repeated'
 * ```
 */
export interface Settled {
  readonly status: SettledStatus
  /** Units that were charged; of a repeated one, by the first. */
  readonly charged: number
  /** Spent units for which there was no room, and which are charged to nothing. */
  readonly uncharged: number
  /** Units that are still out. */
  readonly kept: number
  /** When what is still out ends, by the store's clock; 0 when nothing is. */
  readonly endsAt: Millis
  /** The largest cost that would be allowed at the same instant. */
  readonly remaining: number
  /** Units by which the count is beyond its limit; time pays them back before anything is allowed. */
  readonly debt: number
  /** The instant of the settlement, by the store's clock. */
  readonly at: Millis
}

/**
 * The answers of one exchange, each list in the order of its questions.
 *
 * @example
 * ```ts
 * const { verdicts }: Exchanged = withHolds(memoryStore()).exchange([], checks)
 * ```
 */
export interface Exchanged {
  readonly settled: readonly Settled[]
  readonly verdicts: readonly Verdict[]
  /** Changes if the store may have lost its record of units out. Undefined if the store cannot know that. */
  readonly epoch?: number | undefined
}

/** One of several exchanges that are sent together. */
export interface ExchangeRequest {
  readonly settlements: readonly Settlement[]
  readonly checks: readonly Check[]
}

/**
 * A store that counts checks with `holds`. Its `peek` and `reset` accept them too; `take` does not.
 *
 * @example
 * ```ts
 * const store: HoldStore = redisStore(client)
 * ```
 */
export interface HoldStore extends Store {
  /**
   * Books the settlements, then takes the checks, all or none as `take` does, in one round trip. Checks with and
   * without `holds` may be mixed.
   */
  exchange(settlements: readonly Settlement[], checks: readonly Check[]): MaybePromise<Exchanged>
  /** Several exchanges, each by itself, with one promise for all: the answer to each, or its error. */
  exchangeEach?(requests: readonly ExchangeRequest[]): Promise<readonly (Exchanged | Error)[]>
  /** The verdicts of an exchange without settlements, for less than it costs. Default: by `exchange`. */
  takeHeld?(checks: readonly Check[]): MaybePromise<readonly Verdict[]>
}

/** A remote store that counts checks with `holds`. */
export interface RemoteHoldStore extends RemoteStore {
  exchange(settlements: readonly Settlement[], checks: readonly Check[]): MaybePromise<Exchanged>
  /** The same store with another one between its refusal cache and its counts. */
  inside?(wrap: (counts: HoldStore) => AsyncStore & HoldStore): RemoteStore
}

/**
 * A {@link HoldStore} that answers at once.
 *
 * @example
 * ```ts
 * const store: SyncHoldStore = withHolds(memoryStore())
 * ```
 */
export interface SyncHoldStore extends SyncStore {
  exchange(settlements: readonly Settlement[], checks: readonly Check[]): Exchanged
}

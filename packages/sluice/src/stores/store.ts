// The seam between decisions and the places where counts live.
import type { State } from '../algorithms/algorithm.ts'
import type { Limit } from '../limit/limit.ts'
import type { PlacedPool } from '../limit/placed-limit.ts'
import type { Coordination, OnStoreFailure, Verdict } from '../limit/verdict.ts'
import type { Millis } from '../time/clock.ts'

/**
 * A value now, or later.
 *
 * @example
 * ```ts
 * const later = (value: MaybePromise<number>): Promise<number> => Promise.resolve(value)
 * ```
 */
export type MaybePromise<T> = T | Promise<T>

/**
 * Whether a value comes later; true for promises of any library or realm.
 *
 * @example
 * ```ts
 * const verdicts = store.take(checks)
 * if (isPromise(verdicts)) await verdicts
 * ```
 */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}

/** Applies a function to a value, at once or when its promise is fulfilled. */
export function mapAnswer<T, U>(
  value: MaybePromise<T>,
  then: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return isPromise(value) ? value.then(then) : then(value)
}

/** Runs a function; `fail` answers for it if it throws or its promise is rejected. */
export function attempt<T, F>(
  run: () => MaybePromise<T>,
  fail: (error: unknown) => F,
): MaybePromise<T | F> {
  try {
    const made = run()
    return isPromise(made) ? made.then(undefined, fail) : made
  } catch (error) {
    return fail(error)
  }
}

/**
 * One question to a store: may this cost be taken from this count?
 *
 * A count lives at (space, key). The space belongs to one rule, algorithm and window, so that a state
 * is never read by another arithmetic than the one that wrote it; the key is the request's own part.
 *
 * @example
 * ```ts
 * const check: Check = { space: 'api/per-user', key: '42', limit: limit('100/min'), cost: 1 }
 * ```
 */
export interface Check {
  readonly space: string
  readonly key: string
  readonly limit: Limit
  /** Whole units, 0 to 2^53; the limiter has validated it. */
  readonly cost: number
  /** Counted when everything else is allowed, but its own refusal refuses no request. */
  readonly shadow?: boolean
  /**
   * With `shadow`: decided by itself, and charged if and only if it is allowed, whatever the other checks answer. A limit
   * on trial beside an enforced one.
   */
  readonly candidate?: boolean
  /** The cost is spent (never beyond full) even when the request is refused. */
  readonly countRefused?: boolean
  /** What a rule's lockout counts in; `withLockouts` makes a check of it. */
  readonly lockout?: { readonly space: string; readonly limit: Limit } | undefined
  /**
   * The check of a lockout: nothing is taken from its count. When the check in front of it is refused, and this one is
   * not, one refusal is counted.
   */
  readonly countsRefusals?: boolean
  /** What the check may draw from when its limit has no room; `withPools` makes checks of them. */
  readonly pools?: readonly PlacedPool[] | undefined
  /**
   * The check of a pool. It belongs to the check in front of it, with the pools between them: they are allowed if one of
   * them is, and the first that is pays for all.
   */
  readonly isPool?: boolean
  /** What decides while the store cannot answer. Default `local`. */
  readonly onStoreFailure?: OnStoreFailure
  /** How processes share the count. Only a store of `withCoordination` looks at it. Default `strict`. */
  readonly coordination?: Coordination | undefined
  /**
   * The smallest quota above 0 of the limits that may read this count, such as those of all tiers of a rule. The store
   * keeps the count until it is empty at that rate. Default: the quota of `limit`.
   */
  readonly slowestQuota?: number | undefined
  /** For `refund`: when the units were taken, by the store's clock. Default: now. */
  readonly takenAt?: Millis
  /** Units of this count may be out: it is kept with its holds, in a space of its own. Only a `HoldStore` counts it. */
  readonly holds?: boolean | undefined
  /**
   * Units of this count are leased, for so many milliseconds at most. A store that may have lost its record of what is
   * out fails with `store-learning` for that long.
   */
  readonly leaseLife?: Millis | undefined
  /**
   * With `holds` and `shadow`: as much of the cost is spent as there is room for. The verdict's `held` says how much; with
   * nothing it refuses.
   */
  readonly partial?: boolean | undefined
  /** With `partial`: what there is no room for is charged too, as debt. `held` says how much there was room for. */
  readonly booked?: boolean | undefined
  /** The cost goes out to this holder instead of being spent; only with `holds` and a cost above 0. */
  readonly hold?: Hold | undefined
}

/**
 * Units that go out for a while: a reservation, a slot or a lease.
 *
 * @example
 * ```ts
 * const hold: Hold = { id: 'a1', life: 60_000, onEnd: 'spent' }
 * ```
 */
export interface Hold {
  /** Names the hold within its count. Not empty. A take for an id that is out adds to it. */
  readonly id: string
  /** Milliseconds until its end. */
  readonly life: Millis
  /** What its units are at the end, unless they were settled before: free again, or spent at that instant. */
  readonly onEnd: 'free' | 'spent'
  /**
   * Of the cost, only a fair part of the room goes out: the room divided by twice the holders, this one included. The
   * verdict's `held` says how much; with nothing it refuses.
   */
  readonly fair?: boolean
  /** Milliseconds after its end for which a settlement still finds it, and charges what was spent. Default 0. */
  readonly late?: Millis
  /** Whether the id was made for this take, so that a store need not look for it. A repeated one then holds once. */
  readonly isNew?: boolean
}

/**
 * Where counts live. Each call is atomic, at one instant, by the store's own clock. A store that
 * cannot answer throws or rejects with a `SluiceError` whose `transient` says whether a later call may succeed.
 * It keeps neither the array nor the checks once it has answered.
 *
 * @example
 * ```ts
 * const stores: Store[] = [memoryStore(), redisStore(client)]
 * ```
 */
export interface Store {
  /**
   * All or none: when every check that is not `shadow` is allowed, all of them are charged (a shadow
   * check only if it is allowed itself); when one is refused, none is, except those with `countRefused`.
   * Checks on one count are decided in order. Verdicts come in the order of the checks; their numbers
   * hold after the decision.
   */
  take(checks: readonly Check[]): MaybePromise<readonly Verdict[]>
  /** What `take` would answer for each check alone. Changes nothing. */
  peek(checks: readonly Check[]): MaybePromise<readonly Verdict[]>
  /** Hands units back; never above full. */
  refund(checks: readonly Check[]): MaybePromise<void>
  /** Forgets the counts. */
  reset(checks: readonly Check[]): MaybePromise<void>
  /** Releases timers and connections that the store itself made. Idempotent. */
  close(): MaybePromise<void>
  /** True when every method answers without a promise. */
  readonly sync?: boolean
}

/**
 * A store whose answers may take a while: a limiter on it returns promises.
 *
 * @example
 * ```ts
 * const store: AsyncStore = redisStore(client)
 * ```
 */
export interface AsyncStore extends Store {
  readonly sync?: false
  /** `take` without a promise: the verdicts, or undefined with nothing done when only the store at the other end knows. */
  takeNow?(checks: readonly Check[]): readonly Verdict[] | undefined
  /** The shortest way to what this process has leased of one space under one limit; undefined when there is none. */
  leasePath?(space: string, limit: Limit): LeasePath | undefined
  /** Whether checks may have a `coordination` other than `strict`. */
  readonly coordinates?: boolean
}

/**
 * The shortest way to leased units of one space under one limit.
 *
 * @example
 * ```ts
 * const isLeased = (path: LeasePath) => path.takeNow('user:42') !== undefined
 * ```
 */
export interface LeasePath {
  /** `takeNow` of one unit, without lists: the verdict, or undefined with nothing done when no lease covers it. */
  takeNow(key: string): Verdict | undefined
}

/**
 * What stores at the other end of a network may offer beyond {@link Store}.
 *
 * @example
 * ```ts
 * const store: RemoteStore = redisStore(client, { timeout: 50 })
 * ```
 */
export interface RemoteStore extends AsyncStore {
  /** Milliseconds after which the store ends a call by itself, if it does. */
  readonly timeout?: Millis
  /**
   * The last answer about a count that this store has refused lately, aged to now as if only time had passed since: the
   * verdict may allow by now. The limit of the check is not compared. Sends nothing. The fallback starts from it while
   * the store is unreachable.
   */
  knownRefusal?(check: Check): KnownRefusal | undefined
  /** The number, from 0, of the shard that keeps a count, for stores whose shards fail independently. */
  shardOf?(check: Check): number
  /** Reports events between calls to a listener. Returns a function that ends it. */
  watch?(listener: (event: StoreEvent) => void): () => void
}

/**
 * What is known of a count that was refused: the limit of the last answer, and its verdict on the check's cost now.
 * `answeredAt` is the instant of that answer, by the store's clock, where units come back bit by bit: the fallback then
 * charges its own count once for each answer.
 *
 * @example
 * ```ts
 * const waitOf = ({ verdict }: KnownRefusal) => verdict.retryAfter
 * ```
 */
export interface KnownRefusal {
  readonly limit: Limit
  readonly verdict: Verdict
  readonly answeredAt?: Millis
}

/**
 * What a remote store may report between calls: it seems to be reachable again, or a call that it had given up was
 * answered after all, and whether units that it had taken are being refunded.
 *
 * @example
 * ```ts
 * const isBack = (event: StoreEvent): boolean => event.type === 'reachable'
 * ```
 */
export type StoreEvent =
  | { readonly type: 'reachable' }
  | { readonly type: 'late-answer'; readonly refunded: boolean }

/**
 * The state that a decision left behind, and the instant of the decision.
 *
 * @example
 * ```ts
 * const output: TakeOutput = { at: 0, used: 0, before: 0, now: 0 }
 * ```
 */
export interface TakeOutput extends State {
  now: Millis
}

/** A store that never fails, with a shorter way for `decide`. */
export interface TakesThen {
  /** What `finish` makes of the verdicts of `take`: one promise where a `then` would add another. */
  takeThen<T>(
    checks: readonly Check[],
    finish: (verdicts: readonly Verdict[]) => T,
  ): MaybePromise<T>
}

/** A store in this process that decides a single unit without a list and a verdict. */
export interface TakesOne {
  /**
   * `take` of this check alone, whose cost is 1: the resulting state is written into `output`. Undefined, with nothing done,
   * when only `take` can decide, such as for a key that has no state yet. `shadow`, `countRefused` and pools are not read.
   */
  takeOne(check: Check, output: TakeOutput): boolean | undefined
}

/**
 * The shortest way to the counts of one space under one limit.
 *
 * @example
 * ```ts
 * const count = (path: FastPath, output: TakeOutput) => path.take('user:42', output)
 * ```
 */
export interface FastPath {
  /**
   * `take` of one unit, without a list or a verdict: the resulting state is written into `output`. Undefined, with
   * nothing done, when only `take` of the store can decide, such as for a new key of a store without room.
   */
  take(key: string, output: TakeOutput): boolean | undefined
}

/**
 * A store that answers at once.
 *
 * @example
 * ```ts
 * const store: SyncStore = memoryStore()
 * ```
 */
export interface SyncStore extends Store {
  readonly sync: true
  take(checks: readonly Check[]): readonly Verdict[]
  peek(checks: readonly Check[]): readonly Verdict[]
  refund(checks: readonly Check[]): void
  reset(checks: readonly Check[]): void
  close(): void
}

/**
 * A store that answers at once and has a fast path.
 *
 * @example
 * ```ts
 * const pathOf = (store: FastStore) => store.fastPath('api/per-user', limit('100/min'))
 * ```
 */
export interface FastStore extends SyncStore {
  /** The shortest way to the counts of one space under one limit; undefined when there is none. */
  fastPath(space: string, limit: Limit): FastPath | undefined
}

/** Whether one of the checks is counted in another way than by one call to the store. */
export function hasCoordination(checks: readonly Check[]): boolean {
  for (const { coordination } of checks)
    if (coordination !== undefined && coordination !== 'strict') return true
  return false
}

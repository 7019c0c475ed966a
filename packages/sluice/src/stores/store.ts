// The seam between limiters and the places where counts live.
import type { State } from '../algorithms/algorithm.ts'
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Millis } from '../time/clock.ts'

/** A value now, or later. */
export type MaybePromise<T> = T | Promise<T>

/**
 * One question to a store: may this cost be taken from this count?
 *
 * A count lives at (space, key). The space belongs to one rule, algorithm and window, so that a state
 * is never read by another arithmetic than the one that wrote it; the key is the request's own part.
 */
export interface Check {
  readonly space: string
  readonly key: string
  readonly limit: Limit
  /** Whole units, 0 to 2^53; the limiter has checked it. */
  readonly cost: number
  /** Counted when everything else is allowed, but its own refusal refuses nobody. */
  readonly shadow?: boolean
  /** The cost is spent (never beyond full) even when the request is refused. */
  readonly countRefused?: boolean
  /** For `refund`: when the units were taken, by the store's clock. Default: now. */
  readonly takenAt?: Millis
}

/**
 * Where counts live. Each call is atomic, at one instant, by the store's own clock. A store that
 * cannot answer throws or rejects with a `SluiceError` whose `transient` says whether later may help.
 * It keeps neither the array nor the checks once it has answered.
 */
export interface Store {
  /**
   * All or none: when every check that is not `shadow` is allowed, all of them are charged (a shadow
   * check only if it is allowed itself); when one is refused, none is, except those with `countRefused`.
   * Checks on one count are decided in order. Verdicts come in the order of the checks; what they say
   * holds after the decision.
   */
  take(checks: readonly Check[]): MaybePromise<readonly Verdict[]>
  /** What `take` would say of each check alone. Changes nothing. */
  peek(checks: readonly Check[]): MaybePromise<readonly Verdict[]>
  /** Hands back what was taken; never above full. */
  refund(checks: readonly Check[]): MaybePromise<void>
  /** Forgets the counts. */
  reset(checks: readonly Check[]): MaybePromise<void>
  /** Lets go of timers and connections that the store itself made. Idempotent. */
  close(): MaybePromise<void>
  /** True when every method answers without a promise. */
  readonly sync?: boolean
  /** Milliseconds after which the store gives a call up by itself, if it does. */
  readonly timeout?: Millis
  /**
   * What the store last refused of a count, if it would still refuse this cost by the same limit and nothing but time
   * has passed since. The limit of the check is not looked at. Asks nobody. For those who answer while the store cannot.
   */
  knownRefusal?(check: Check): KnownRefusal | undefined
  /** The number, from 0, of the part that keeps a count, for stores whose parts fail apart. */
  shardOf?(check: Check): number
  /** Tells a listener what happens between calls. Returns what ends that. */
  watch?(listener: (event: StoreEvent) => void): () => void
}

/** A refusal that is remembered: its verdict now, and the limit that refuses. */
export interface KnownRefusal {
  readonly limit: Limit
  readonly verdict: Verdict
}

/**
 * What a store may tell between calls: that it seems to be reachable again, or that a call which it had given
 * up was answered after all, and whether units it had taken are being handed back.
 */
export type StoreEvent =
  | { readonly type: 'reachable' }
  | { readonly type: 'late-answer'; readonly givenBack: boolean }

/** A store whose answers may take a while: a limiter on it returns promises. */
export interface AsyncStore extends Store {
  readonly sync?: false
}

/** The state that a decision left behind, and the instant of the decision. */
export interface TakeOutput extends State {
  now: Millis
}

/** The counts of one space under one limit, for a caller that asks about them again and again. */
export interface FastPath {
  /**
   * `take` of one unit for a key that the store knows, without a list or a verdict: what there is to say is
   * written into `left`. Undefined, with nothing done, when it does not know the key.
   */
  takeExisting(key: string, left: TakeOutput): boolean | undefined
}

/** A store that answers at once. */
export interface SyncStore extends Store {
  readonly sync: true
  take(checks: readonly Check[]): readonly Verdict[]
  /** The counts of one space under one limit, for stores with a shorter way to them; undefined when there is none. */
  fastPath?(space: string, limit: Limit): FastPath | undefined
  peek(checks: readonly Check[]): readonly Verdict[]
  refund(checks: readonly Check[]): void
  reset(checks: readonly Check[]): void
  close(): void
}

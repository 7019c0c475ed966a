// A store around a store: answers requests that the store has just refused, so that a storm of retries costs it nothing.
import type { Limit } from '../../limit/limit.ts'
import type { Verdict } from '../../limit/verdict.ts'
import type { Clock, Millis } from '../../time/clock.ts'
import { AS_IT_IS, mappedTakes, type MappedTakes, type TakeReceiver } from '../mapped-takes.ts'
import {
  hasCoordination,
  type AsyncStore,
  type Check,
  type KnownRefusal,
  type LeasePath,
  type MaybePromise,
  type RemoteStore,
} from '../store.ts'
import { CachedCount, stateOf, type CheckWithState } from './cached-count.ts'
import { RecentMap } from './recent-map.ts'

/** Counts that are cached at most, about 30 MB: as many as a process can refuse while a refusal is held. */
const MAX_COUNTS = 65_536
/** Counts whose refund or reset is known by its number at most. */
const MAX_LOWERED = 16_384

/** Whether the server of a store may drop counts by itself. */
export interface CountDropping {
  /** True if it may: checks then carry the state of counts that are known to be spent. */
  readonly isPossible: boolean
  /** Whether the server was queried. */
  readonly isQueried: boolean
  /** Queries the server. Never rejects. */
  query(): Promise<void>
}

/** How a refusal cache works. */
export interface RefusalCacheOptions {
  /** Milliseconds for which a refusal is answered from the cache. */
  readonly hold: Millis
  /** Our own time, if possible with fractions of a millisecond. */
  readonly clock: Clock
  /** Queried when the store has answered. Default: no count is dropped. */
  readonly dropping?: CountDropping
}

/**
 * Answers a request from the cache if the store would refuse it: for at most `hold` after the store's own answer, and
 * never longer than the store would refuse it if only time passes. An answer from the cache reflects every call of this
 * process that has completed. Refunds and resets of other processes are seen after `hold` at the latest.
 *
 * The cache holds the last answer about each count of a refused request, and takes over every later answer about it.
 * Requests with a check that counts refusals, and requests with two checks on one count, always go to the store.
 */
export function withRefusalCache(
  store: AsyncStore,
  options: RefusalCacheOptions,
  /** Another cache of the same counts. The two share what they know; the other one takes checks without a coordination. */
  sibling?: RefusalCache,
): RefusalCache {
  return new RefusalCache(store, options, sibling)
}

/** Which counts were lowered by refunds and resets, and in what order. */
interface LoweredCounts {
  /** How many refunds and resets have begun or ended. */
  count: number
  /** By count the number of its last refund or reset. */
  readonly lastByCount: Map<string, number>
  /** Numbers up to this one may be missing in `lastByCount`. */
  forgotten: number
}

/** See {@link withRefusalCache}. */
export class RefusalCache implements RemoteStore, MappedTakes {
  private readonly store: AsyncStore
  private readonly mapped: MappedTakes
  private readonly sibling: RefusalCache | undefined
  /** Whether the store may answer without a promise. */
  readonly coordinates: boolean
  readonly options: RefusalCacheOptions
  /** What is known of counts. */
  readonly counts: RecentMap<CachedCount>
  private readonly lowered: LoweredCounts

  constructor(store: AsyncStore, options: RefusalCacheOptions, sibling?: RefusalCache) {
    this.counts = sibling?.counts ?? new RecentMap<CachedCount>(MAX_COUNTS)
    this.lowered = sibling?.lowered ?? { count: 0, lastByCount: new Map(), forgotten: 0 }
    this.store = store
    this.mapped = mappedTakes(store)
    this.sibling = sibling
    this.coordinates = store.coordinates === true
    this.options = options
  }

  take(checks: readonly Check[]): MaybePromise<readonly Verdict[]> {
    return this.takeWith(checks, AS_IT_IS)
  }

  takeWith<T>(
    checks: readonly Check[],
    receiver: TakeReceiver<T>,
  ): readonly Verdict[] | Promise<T> {
    const { counts } = this
    if (this.sibling !== undefined && !hasCoordination(checks))
      return this.sibling.takeWith(checks, receiver)
    if (checks.length === 0) return this.mapped.takeWith(checks, receiver)
    const { clock, dropping } = this.options
    const sentAt = clock()
    let sent = checks
    if (!counts.isEmpty) {
      const verdicts = this.cachedVerdicts(checks, sentAt)
      if (verdicts !== undefined) return verdicts
      if (dropping?.isPossible === true) sent = this.withStates(checks, sentAt)
    }
    const cachingReceiver = new CachingReceiver(this, checks, sentAt, this.lowered.count, receiver)
    return this.mapped.takeWith(sent, cachingReceiver)
  }

  takeNow(checks: readonly Check[]): readonly Verdict[] | undefined {
    return this.store.takeNow?.(checks)
  }

  leasePath(space: string, limit: Limit): LeasePath | undefined {
    return this.store.leasePath?.(space, limit)
  }

  peek(checks: readonly Check[]): MaybePromise<readonly Verdict[]> {
    return this.store.peek(checks)
  }

  refund(checks: readonly Check[]): Promise<void> {
    return this.forgetDuring(checks, this.store.refund(checks))
  }

  reset(checks: readonly Check[]): Promise<void> {
    return this.forgetDuring(checks, this.store.reset(checks))
  }

  knownRefusal(check: Check): KnownRefusal | undefined {
    const { counts, options } = this
    if (counts.isEmpty) return undefined
    return counts.get(check.space, check.key)?.refusalOf(check.cost, options.clock())
  }

  close(): MaybePromise<void> {
    this.counts.clear()
    return this.store.close()
  }

  /** The verdicts from the cache, if every count is known and one that is not shadow refuses. */
  private cachedVerdicts(checks: readonly Check[], now: Millis): readonly Verdict[] | undefined {
    const { hold } = this.options
    let isRefused = false
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i]!
      const { limit, cost, shadow, countRefused, candidate, countsRefusals, isPool } = check
      const count = this.counts.get(check.space, check.key)
      // Only the store can say which pool pays.
      if (isPool === true || countRefused === true || count?.isFresh(limit, now, hold) !== true)
        return undefined
      const refuses = count.refuses(cost, now)
      // A candidate that allows must be charged, and a lockout counts refusals until it locks: the store has to decide.
      if ((candidate === true || countsRefusals === true) && !refuses) return undefined
      if (shadow !== true && refuses) isRefused = true
    }
    if (!isRefused || hasRepeatedCount(checks)) return undefined
    const verdicts = new Array<Verdict>(checks.length)
    for (let i = 0; i < checks.length; i++) {
      const verdict = this.counts
        .get(checks[i]!.space, checks[i]!.key)!
        .verdictOn(checks[i]!.cost, now)
      if (verdict === undefined) return undefined
      verdicts[i] = verdict
    }
    return verdicts
  }

  /**
   * Takes over the answer to a take: about every count of a refused request, and about those that are cached already.
   * `loweredBefore` is how many refunds and resets had begun or ended when the take was sent.
   */
  noteAnswer(
    checks: readonly Check[],
    verdicts: readonly Verdict[],
    sentAt: Millis,
    loweredBefore: number,
  ): void {
    const { counts } = this
    const isRefused = checks.some(({ shadow }, i) => shadow !== true && !verdicts[i]!.allowed)
    const times = { sentAt, answeredAt: this.options.clock() }
    // Two checks on one count: the verdict of the second may show units that a refused request did not take.
    const isUsable = !hasRepeatedCount(checks)
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i]!
      const { space, key } = check
      const verdict = verdicts[i]!
      const count = counts.get(space, key)
      // Settlements free units of such a count, and are not seen here.
      if (check.holds === true) continue
      if (!isUsable || this.wasLoweredSince(loweredBefore, check)) counts.delete(space, key)
      else if (count?.isNewerThan(verdict) === true) continue
      else if (isRefused) counts.set(space, key, new CachedCount(check, verdict, times))
      else if (count === undefined) continue
      // Without its state, an answer about a smaller cost says nothing about a larger one.
      else if (stateOf(verdict) === undefined) counts.delete(space, key)
      else count.update(check, verdict, times)
    }
  }

  /** The checks with the states of counts that are known to be spent. */
  private withStates(checks: readonly Check[], now: Millis): readonly CheckWithState[] {
    return checks.map((check) => {
      const lastState = this.counts.get(check.space, check.key)?.stateToSend(now)
      return lastState === undefined ? check : { ...check, lastState }
    })
  }

  /** Forgets counts before and after a call that lowers them, so that no answer that was in transit meanwhile is cached. */
  private async forgetDuring(checks: readonly Check[], done: MaybePromise<void>): Promise<void> {
    this.forget(checks)
    try {
      await done
    } finally {
      this.forget(checks)
    }
  }

  private wasLoweredSince(loweredBefore: number, check: Check): boolean {
    const { lastByCount, forgotten } = this.lowered
    if (loweredBefore < forgotten) return true
    return lastByCount.size > 0 && (lastByCount.get(nameOf(check)) ?? 0) > loweredBefore
  }

  private forget(checks: readonly Check[]): void {
    const { lowered } = this
    lowered.count += 1
    for (const check of checks) {
      this.counts.delete(check.space, check.key)
      lowered.lastByCount.set(nameOf(check), lowered.count)
    }
    if (lowered.lastByCount.size <= MAX_LOWERED) return
    lowered.lastByCount.clear()
    lowered.forgotten = lowered.count
  }
}

/** Receives the answer to a take, and updates the cache with it. */
class CachingReceiver<T> implements TakeReceiver<T> {
  private readonly cache: RefusalCache
  private readonly checks: readonly Check[]
  private readonly sentAt: Millis
  private readonly loweredBefore: number
  private readonly receiver: TakeReceiver<T>

  constructor(
    cache: RefusalCache,
    checks: readonly Check[],
    sentAt: Millis,
    loweredBefore: number,
    receiver: TakeReceiver<T>,
  ) {
    this.cache = cache
    this.checks = checks
    this.sentAt = sentAt
    this.loweredBefore = loweredBefore
    this.receiver = receiver
  }

  passed(verdicts: readonly Verdict[]): MaybePromise<T> {
    const { cache } = this
    const { dropping } = cache.options
    if (dropping?.isQueried === false) void dropping.query()
    let isOfInterest = !cache.counts.isEmpty
    for (let i = 0; i < verdicts.length; i++) if (!verdicts[i]!.allowed) isOfInterest = true
    if (isOfInterest) cache.noteAnswer(this.checks, verdicts, this.sentAt, this.loweredBefore)
    return this.receiver.passed(verdicts)
  }

  failed(error: unknown): MaybePromise<T> {
    return this.receiver.failed(error)
  }
}

/** The name of a count. The length makes it injective: a space may hold any character. */
function nameOf({ space, key }: Check): string {
  return `${space.length} ${space}${key}`
}

/** Whether two checks are on one count. */
function hasRepeatedCount(checks: readonly Check[]): boolean {
  for (let i = 1; i < checks.length; i++) {
    for (let j = 0; j < i; j++)
      if (checks[i]!.key === checks[j]!.key && checks[i]!.space === checks[j]!.space) return true
  }
  return false
}

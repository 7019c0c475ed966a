// Answers checks while a store cannot: each by its `onStoreFailure`, local ones at a share of their limit.
import type { Limit } from '../limit/limit.ts'
import type { OnStoreFailure, Verdict } from '../limit/verdict.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { RecentMap } from '../stores/refusal-cache/recent-map.ts'
import type { Check, KnownRefusal, SyncStore } from '../stores/store.ts'
import { systemClock, type Clock, type Millis } from '../time/clock.ts'
import type { Failure } from './circuit-breaker.ts'
import { FALLBACK_SHARE, type ResilienceOptions } from './options.ts'

/** Keys that are counted at most: about 10 MB. */
const MAX_KEYS = 100_000

/** What the fallback of a store is made from. */
export interface FallbackOptions {
  /** The share of every limit that this process grants. */
  readonly share: {
    readonly fallbackShare: ResilienceOptions['fallbackShare'] | undefined
    readonly replicas?: ResilienceOptions['replicas'] | undefined
  }
  /** The last refusal by the store that is still known. */
  readonly knownRefusal: ((check: Check) => KnownRefusal | undefined) | undefined
  /** Default: the system's monotonic clock. */
  readonly clock: Clock | undefined
}

/**
 * Counts in this process for an unreachable store. A count lives until it
 * is as good as new, whether the store is back or not, so that a flapping store hands out no second share; and it
 * starts from what the store is known to have counted.
 */
export class FallbackCounts {
  private readonly options: FallbackOptions
  private readonly clock: Clock
  private readonly scaledLimits = new WeakMap<Limit, Limit>()
  /** Made at once: its timer would retain the async context of the request that meets an outage first. */
  private readonly counts: SyncStore
  /** When the store gave the answer that each count was seeded from. */
  private readonly seededFrom = new RecentMap<Millis>(MAX_KEYS)

  constructor(options: FallbackOptions) {
    this.options = options
    const { clock } = options
    this.clock = clock ?? systemClock
    this.counts = memoryStore({ maxKeys: MAX_KEYS, ...(clock && { clock }) })
  }

  /** Local checks are taken all or none, and not at all when a closed check or a known refusal refuses. */
  take(checks: readonly Check[], failure: Failure): readonly Verdict[] {
    const known = new Array<Verdict | undefined>(checks.length)
    let isRefused = false
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i]!
      known[i] = this.seedFromKnownRefusal(check)
      if (check.shadow === true) continue
      if (known[i] !== undefined || modeOf(check) === 'closed') isRefused = true
    }
    return this.answer(checks, known, failure, isRefused ? 'peek' : 'take')
  }

  peek(checks: readonly Check[], failure: Failure): readonly Verdict[] {
    const known = checks.map((check) => this.seedFromKnownRefusal(check))
    return this.answer(checks, known, failure, 'peek')
  }

  refund(checks: readonly Check[]): void {
    this.counts.refund(this.localOf(checks))
  }

  reset(checks: readonly Check[]): void {
    for (const { space, key } of checks) this.seededFrom.delete(space, key)
    this.counts.reset(this.localOf(checks))
  }

  close(): void {
    this.counts.close()
  }

  /**
   * The store's refusal of this check where it still holds. The local count is charged down to what the store had left, at
   * the same share: the fallback hands out no units a second time.
   *
   * Where units come back bit by bit, a count is charged once for each answer of the store, with the first request after it
   * and also while the refusal holds: from then on its own waits are right. A window is free again when the refusal ends.
   */
  private seedFromKnownRefusal(check: Check): Verdict | undefined {
    if (modeOf(check) !== 'local') return undefined
    const known = this.options.knownRefusal?.(check)
    if (known === undefined) return undefined
    const { limit, space, key } = check
    const { verdict, answeredAt } = known
    const isRaised = known.limit.quota < limit.quota || known.limit.burst < limit.burst
    const holds = !verdict.allowed && check.shadow !== true && !isRaised
    if (answeredAt === undefined) {
      if (!holds) this.chargeKnown(check, known)
    } else if (this.seededFrom.get(space, key) !== answeredAt) {
      this.chargeKnown(check, known)
      this.seededFrom.set(space, key, answeredAt)
    }
    return holds ? verdict : undefined
  }

  /** Charges the local count down to its share of what the store had left. */
  private chargeKnown(check: Check, known: KnownRefusal): void {
    const { limit } = check
    const used = known.limit.burst - known.verdict.remaining
    // Of a full count a share below one unit is granted too.
    if (used <= 0) return
    const scaled = this.scaledOf(limit)
    const level = this.scale(Math.max(0, limit.burst - used))
    const localCheck = { ...check, limit: scaled, cost: 0, shadow: false, countRefused: false }
    const { remaining } = this.counts.peek([localCheck])[0]!
    if (level < remaining) this.counts.take([{ ...localCheck, cost: remaining - level }])
  }

  private answer(
    checks: readonly Check[],
    known: readonly (Verdict | undefined)[],
    { cause, retryAfter }: Failure,
    operation: 'take' | 'peek',
  ): readonly Verdict[] {
    const local = this.localOf(checks)
    const counted = local.length === 0 ? [] : this.counts[operation](local)
    const verdicts = new Array<Verdict>(checks.length)
    let next = 0
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i]!
      const mode = modeOf(check)
      if (mode !== 'local') {
        verdicts[i] = ruleVerdict(mode, check.limit.burst, retryAfter, cause, this.clock())
        continue
      }
      const own = counted[next]!
      const { limit } = local[next++]!
      const why = { source: 'fallback', cause, appliedLimit: limit } as const
      const refusal = known[i]
      if (refusal !== undefined) verdicts[i] = { ...laterOf(refusal, own), ...why }
      // This verdict was made for this call alone. It computes its numbers when they are read.
      else if (own.allowed) verdicts[i] = Object.assign(own, why)
      else verdicts[i] = { ...numbersOf(this.withRetry(check, limit, own, retryAfter)), ...why }
    }
    return verdicts
  }

  /** A cost above the local share never fits here, but may fit the whole limit of the store: retry at the next probe. */
  private withRetry(check: Check, scaled: Limit, verdict: Verdict, retryAfter: Millis): Verdict {
    if (verdict.retryAfter !== null || scaled.quota === 0) return verdict
    if (this.scale(check.cost) > scaled.burst) return verdict
    const { allowed, remaining, resetAfter, delay, at, source } = verdict
    const availableAfter = Math.min(verdict.availableAfter, retryAfter)
    return { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source }
  }

  private localOf(checks: readonly Check[]): readonly Check[] {
    const local: Check[] = []
    for (const check of checks) {
      if (modeOf(check) === 'local') local.push({ ...check, limit: this.scaledOf(check.limit) })
    }
    return local
  }

  /** A share of a limit's quota and burst, but at least 1 unless they are 0. */
  private scaledOf(limit: Limit): Limit {
    let scaled = this.scaledLimits.get(limit)
    if (scaled === undefined) {
      const { quota, burst } = limit
      scaled = { ...limit, quota: this.scale(quota, 1), burst: this.scale(burst, 1) }
      this.scaledLimits.set(limit, scaled)
    }
    return scaled
  }

  /** The share of some units that this process grants by itself: at least `least`, unless there are none. */
  private scale(units: number, least = 0): number {
    const { fallbackShare = FALLBACK_SHARE, replicas } = this.options.share
    if (units === 0) return 0
    // A little is added before rounding down: 0.29 of 100 is 29, although the product is a bit less.
    const share = replicas === undefined ? units * fallbackShare + 1e-6 : units / replicas
    return Math.max(least, Math.floor(share))
  }
}

/** What answers a check. A rule that this process counts by itself in any case is not opened or closed by a store. */
function modeOf({ onStoreFailure = 'local', coordination }: Check): OnStoreFailure {
  return coordination === 'local' ? 'local' : onStoreFailure
}

/** The refusal, until both the store and the local count allow. A cost that never fits here may fit the store. */
function laterOf(refusal: Verdict, own: Verdict): Verdict {
  const { retryAfter } = refusal
  return {
    ...numbersOf(refusal),
    remaining: Math.min(refusal.remaining, own.remaining),
    retryAfter: retryAfter === null ? null : Math.max(retryAfter, own.retryAfter ?? 0),
    resetAfter: Math.max(refusal.resetAfter, own.resetAfter),
    availableAfter: Math.max(refusal.availableAfter, own.availableAfter),
  }
}

/** All that a verdict says of its count. */
function numbersOf(verdict: Verdict): Verdict {
  const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source } = verdict
  return { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source }
}

/** An open rule counts nothing, so everything remains; a closed one refuses until the next probe. */
function ruleVerdict(
  source: 'open' | 'closed',
  burst: number,
  untilProbe: Millis,
  cause: Failure['cause'],
  at: Millis,
): Verdict {
  const allowed = source === 'open'
  const wait = allowed ? 0 : untilProbe
  const numbers = { remaining: allowed ? burst : 0, retryAfter: wait, resetAfter: wait }
  return { allowed, ...numbers, availableAfter: wait, delay: 0, at, source, cause }
}

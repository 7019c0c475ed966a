// What answers while a store cannot: each check by its `onStoreFailure`, local ones at a share of their limit.
import type { Limit } from '../limit/limit.ts'
import type { OnStoreFailure, Source, Verdict } from '../limit/verdict.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Check, KnownRefusal, SyncStore } from '../stores/store.ts'
import { systemClock, type Clock, type Millis } from '../time/clock.ts'
import type { Failure } from './circuit-breaker.ts'

/** Keys that are counted at most: about 10 MB. */
const MAX_KEYS = 100_000

/** What the fallback of a store is made from. */
export interface FallbackOptions {
  /** The share of some units that this process grants. */
  readonly scale: (units: number) => number
  /** The last refusal by the store that is still known. */
  readonly knownRefusal: ((check: Check) => KnownRefusal | undefined) | undefined
  /** Default: the system's monotonic clock. */
  readonly clock: Clock | undefined
}

/**
 * Counts in this process for an unreachable store. Nothing is made before the first answer. A count lives until it
 * is as good as new, whether the store is back or not, so that a flapping store hands out no second share; and it
 * starts from what the store is known to have counted.
 */
export class FallbackCounts {
  private readonly options: FallbackOptions
  private readonly clock: Clock
  private readonly scaledLimits = new WeakMap<Limit, Limit>()
  private made: SyncStore | undefined

  constructor(options: FallbackOptions) {
    this.options = options
    this.clock = options.clock ?? systemClock
  }

  /** Local checks are taken all or none, and not at all when a closed check or a known refusal refuses. */
  take(checks: readonly Check[], failure: Failure): readonly Verdict[] {
    const known = checks.map((check) => this.startFromKnown(check))
    const isRefused = checks.some(
      (check, i) => check.shadow !== true && (modeOf(check) === 'closed' || known[i] !== undefined),
    )
    const { counts } = this
    return this.answer(checks, known, failure, (local) =>
      isRefused ? counts.peek(local) : counts.take(local),
    )
  }

  peek(checks: readonly Check[], failure: Failure): readonly Verdict[] {
    const known = checks.map((check) => this.startFromKnown(check))
    return this.answer(checks, known, failure, (local) => this.counts.peek(local))
  }

  refund(checks: readonly Check[]): void {
    this.made?.refund(this.localOf(checks))
  }

  reset(checks: readonly Check[]): void {
    this.made?.reset(this.localOf(checks))
  }

  close(): void {
    this.made?.close()
    this.made = undefined
  }

  private get counts(): SyncStore {
    const { clock } = this.options
    return (this.made ??= memoryStore({ maxKeys: MAX_KEYS, ...(clock && { clock }) }))
  }

  /**
   * The store's refusal of this check where it still holds. Where time has passed it, the local count is charged
   * down to what the store had left, at the same share: the fallback hands out no units a second time.
   */
  private startFromKnown(check: Check): Verdict | undefined {
    if (modeOf(check) !== 'local') return undefined
    const known = this.options.knownRefusal?.(check)
    if (known === undefined) return undefined
    const { limit } = check
    const isRaised = known.limit.quota < limit.quota || known.limit.burst < limit.burst
    if (!known.verdict.allowed && check.shadow !== true && !isRaised) return known.verdict
    const used = known.limit.burst - known.verdict.remaining
    const scaled = this.scaledOf(limit)
    const level = this.options.scale(Math.max(0, limit.burst - used))
    const look = { ...check, limit: scaled, cost: 0, shadow: false, countRefused: false }
    const { remaining } = this.counts.peek([look])[0]!
    if (level < remaining) this.counts.take([{ ...look, cost: remaining - level }])
    return undefined
  }

  private answer(
    checks: readonly Check[],
    known: readonly (Verdict | undefined)[],
    { cause, retryAfter }: Failure,
    decide: (local: readonly Check[]) => readonly Verdict[],
  ): readonly Verdict[] {
    const local = this.localOf(checks)
    const verdicts = local.length === 0 ? [] : decide(local)
    let next = 0
    return checks.map((check, i) => {
      const mode = modeOf(check)
      if (mode === 'open') return ruleVerdict('open', check.limit.burst, 0, cause, this.clock())
      if (mode === 'closed') return ruleVerdict('closed', 0, retryAfter, cause, this.clock())
      const own = verdicts[next]!
      const { limit } = local[next++]!
      const verdict = known[i] ?? this.withRetry(check, limit, own, retryAfter)
      return localVerdict(verdict, cause, limit)
    })
  }

  /** A cost above the local share never fits here, but may fit the whole limit of the store: retry at the next probe. */
  private withRetry(check: Check, scaled: Limit, verdict: Verdict, retryAfter: Millis): Verdict {
    const { scale } = this.options
    if (verdict.allowed || verdict.retryAfter !== null || scaled.quota === 0) return verdict
    if (scale(check.cost) > scaled.burst) return verdict
    const { allowed, remaining, resetAfter, delay, at, source } = verdict
    const availableAfter = Math.min(verdict.availableAfter, retryAfter)
    return { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source }
  }

  private localOf(checks: readonly Check[]): readonly Check[] {
    return checks
      .filter((check) => modeOf(check) === 'local')
      .map((check) => ({ ...check, limit: this.scaledOf(check.limit) }))
  }

  /** A share of a limit's quota and burst, but at least 1 unless they are 0. */
  private scaledOf(limit: Limit): Limit {
    let scaled = this.scaledLimits.get(limit)
    if (scaled === undefined) {
      const { scale } = this.options
      const share = (units: number): number => (units === 0 ? 0 : Math.max(1, scale(units)))
      scaled = { ...limit, quota: share(limit.quota), burst: share(limit.burst) }
      this.scaledLimits.set(limit, scaled)
    }
    return scaled
  }
}

function modeOf({ onStoreFailure = 'local' }: Check): OnStoreFailure {
  return onStoreFailure
}

function localVerdict(verdict: Verdict, cause: Failure['cause'], appliedLimit: Limit): Verdict {
  const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at } = verdict
  const numbers = { remaining, retryAfter, resetAfter, availableAfter, delay, at }
  return { allowed, ...numbers, source: 'fallback', cause, appliedLimit }
}

/** An open rule counts nothing, so everything remains; a closed one refuses until the next probe. */
function ruleVerdict(
  source: Source & ('open' | 'closed'),
  remaining: number,
  wait: Millis,
  cause: Failure['cause'],
  at: Millis,
): Verdict {
  const numbers = { remaining, retryAfter: wait, resetAfter: wait, availableAfter: wait }
  return { allowed: source === 'open', ...numbers, delay: 0, at, source, cause }
}

// Decides for each call whether it goes out: closed, open, half-open.
import { causeOf, SluiceError, type ErrorCode } from '../errors.ts'
import type { Clock, Millis } from '../time/clock.ts'
import type { ResilienceEvent } from './events.ts'

/**
 * When a breaker opens and probes.
 *
 * @example
 * ```ts
 * withResilience(redisStore(client), { breaker: { failures: 5, firstProbe: 1000 } })
 * ```
 */
export interface BreakerOptions {
  /** Consecutive failures that open it. Failures within one millisecond count once: one lost reply fails many requests. Default 5. */
  readonly failures?: number
  /** The share of failed calls that opens it, once at least `calls` calls were made within a second. Default 0.5. */
  readonly ratio?: number
  /** Calls within a second below which `ratio` is ignored. Default 20. */
  readonly calls?: number
  /** Maximum milliseconds until the first probe; doubled after each failed probe. Default 100. */
  readonly firstProbe?: Millis
  /** Maximum milliseconds between two probes. Default 400. */
  readonly lastProbe?: Millis
}

/** Closed: every call goes out. Open: none does. Half-open: one call at a time goes out as a probe. */
export type BreakerState = 'closed' | 'open' | 'half-open'

/**
 * Why a call has no answer, and when the next one may go out.
 *
 * @example
 * ```ts
 * const text = ({ cause, retryAfter }: Failure) => `${cause}; again in ${retryAfter} ms`
 * ```
 */
export interface Failure {
  readonly cause: ErrorCode
  /** Until the next probe; at least 1. */
  readonly retryAfter: Millis
  /** What a caller without a fallback gets. */
  readonly error: unknown
}

/** What a breaker works with. */
export interface BreakerEnvironment {
  readonly clock: Clock
  /** From 0 to 1, for the jitter of probes. */
  readonly random: () => number
  /** Must not throw. */
  readonly onEvent: (event: ResilienceEvent) => void
}

/** The entry of a call that must not go out. */
export const NO_ENTRY = 0

/** Milliseconds in half of the window that `ratio` is measured over. */
const HALF_WINDOW = 500
/** Milliseconds after the start of a window in which `ratio` is ignored: one lost reply fails every request of its batch. */
const RATIO_IGNORED_FOR = 200
/** Consecutive good probes that close it. */
const GOOD_PROBES = 2
/** A probe without a result for this long is forgotten. */
const LOST_PROBE = 10_000

/**
 * A circuit breaker. A call enters, and reports its result later; results of calls that entered in an earlier state
 * are ignored. While it is closed and calls succeed, it does not read the clock.
 */
export class CircuitBreaker {
  private readonly failures: number
  private readonly ratio: number
  private readonly calls: number
  private readonly firstProbe: Millis
  private readonly lastProbe: Millis
  private readonly environment: BreakerEnvironment
  /** Changes with every transition; a call keeps the one it entered by. */
  private entry = 1
  private current: BreakerState = 'closed'
  /** Why it opened, or why the last probe failed. */
  private cause: ErrorCode = 'store-failed'
  private failuresInRow = 0
  private lastFailure: Millis = -Infinity
  private successCount = 0
  private failureCount = 0
  private previousSuccessCount = 0
  private previousFailureCount = 0
  private halfWindowStart: Millis = -Infinity
  private windowStart: Millis = -Infinity
  private openedAt: Millis = 0
  private probeAt: Millis = 0
  private failedProbes = 0
  private goodProbes = 0
  private probeLostAt: Millis | null = null
  /** The entry of a probe that was in flight when the store became reachable. */
  private outdatedProbe = NO_ENTRY

  constructor(options: BreakerOptions, environment: BreakerEnvironment) {
    this.failures = options.failures ?? 5
    this.ratio = options.ratio ?? 0.5
    this.calls = options.calls ?? 20
    this.firstProbe = options.firstProbe ?? 100
    this.lastProbe = options.lastProbe ?? 400
    this.environment = environment
  }

  get state(): BreakerState {
    return this.current
  }

  /** The entry for one call, or {@link NO_ENTRY}. Unless the breaker is closed, the call that enters is the probe. */
  enter(): number {
    if (this.current === 'closed') return this.entry
    const now = this.environment.clock()
    if (this.current === 'open') {
      if (now < this.probeAt) return NO_ENTRY
      this.change('half-open')
      this.goodProbes = 0
      this.environment.onEvent({ type: 'half-open', at: now })
    } else if (this.probeLostAt !== null && now < this.probeLostAt) {
      return NO_ENTRY
    }
    this.probeLostAt = now + LOST_PROBE
    return ++this.entry
  }

  /** A call succeeded. */
  succeeded(entry: number): void {
    if (entry !== this.entry) return
    if (this.current === 'closed') {
      this.failuresInRow = 0
      this.successCount += 1
      return
    }
    this.probeLostAt = null
    this.goodProbes += 1
    if (this.goodProbes < GOOD_PROBES) return
    this.failuresInRow = 0
    this.forgetCounts()
    this.change('closed')
    const at = this.environment.clock()
    this.environment.onEvent({ type: 'closed', at, openFor: at - this.openedAt })
  }

  /** A call failed or took too long. */
  failed(entry: number, error: unknown): void {
    if (entry !== this.entry) return
    // It was sent before the store became reachable, so it is no evidence about the store now.
    if (entry === this.outdatedProbe) return this.cancelled(entry)
    const now = this.environment.clock()
    if (this.current !== 'closed') {
      this.failedProbes += 1
      this.open(now, error)
      return
    }
    if (!this.opensAfterFailure(now)) return
    this.openedAt = now
    this.failedProbes = 0
    this.open(now, error)
    this.environment.onEvent({
      type: 'opened',
      at: now,
      cause: this.cause,
      error,
      nextProbe: this.nextProbe(now),
    })
  }

  /** A call was answered without the store: it counts as never entered. */
  cancelled(entry: number): void {
    if (entry === this.entry) this.probeLostAt = null
  }

  /** The store seems to be reachable again: the next call is the probe. */
  noteReachable(): void {
    const now = this.environment.clock()
    if (this.current === 'open') this.probeAt = Math.min(this.probeAt, now)
    // A probe in flight uses the old connection, which may be dead: its answer is not waited for.
    else if (this.current === 'half-open' && this.probeLostAt !== null) {
      this.probeLostAt = now
      this.outdatedProbe = this.entry
    }
  }

  /** The failure of a call that got an error. */
  failure(error: unknown): Failure {
    const retryAfter = this.nextProbe(this.environment.clock())
    return { cause: causeOf(error), retryAfter, error }
  }

  /** The failure of a call that did not go out. */
  refusal(): Failure {
    return new BreakerOpenFailure(this.cause, this.nextProbe(this.environment.clock()))
  }

  private open(now: Millis, error: unknown): void {
    const longest = Math.min(this.lastProbe, this.firstProbe * 2 ** Math.min(this.failedProbes, 20))
    // Between half and all of it, so that clients that failed together do not probe together.
    this.probeAt = now + longest * (0.5 + this.environment.random() / 2)
    this.probeLostAt = null
    this.cause = causeOf(error)
    this.change('open')
  }

  /** Until the next probe; at least 1, so that callers never retry at once. */
  private nextProbe(now: Millis): Millis {
    return Math.max(1, Math.ceil(this.probeAt - now))
  }

  /** Counts a failure while it is closed: whether there are too many in a row, or too many among the calls of a second. */
  private opensAfterFailure(now: Millis): boolean {
    if (now !== this.lastFailure) this.failuresInRow += 1
    this.lastFailure = now
    if (now - this.halfWindowStart >= 2 * HALF_WINDOW || now < this.halfWindowStart) {
      this.forgetCounts()
      this.halfWindowStart = now
      this.windowStart = now
    } else if (now - this.halfWindowStart >= HALF_WINDOW) {
      this.previousSuccessCount = this.successCount
      this.previousFailureCount = this.failureCount
      this.windowStart = this.halfWindowStart
      this.halfWindowStart = now
      this.successCount = 0
      this.failureCount = 0
    }
    this.failureCount += 1
    if (this.failuresInRow >= this.failures) return true
    const failed = this.failureCount + this.previousFailureCount
    const all = failed + this.successCount + this.previousSuccessCount
    return (
      now - this.windowStart >= RATIO_IGNORED_FOR && all >= this.calls && failed >= all * this.ratio
    )
  }

  private forgetCounts(): void {
    this.successCount = 0
    this.failureCount = 0
    this.previousSuccessCount = 0
    this.previousFailureCount = 0
    this.halfWindowStart = -Infinity
  }

  private change(state: BreakerState): void {
    this.current = state
    this.entry += 1
  }
}

/** The failure of a call that did not go out. Its error is made when it is read: most callers have a fallback. */
class BreakerOpenFailure implements Failure {
  readonly cause: ErrorCode
  readonly retryAfter: Millis

  constructor(cause: ErrorCode, retryAfter: Millis) {
    this.cause = cause
    this.retryAfter = retryAfter
  }

  get error(): SluiceError {
    const message = `the breaker is open after ${this.cause}; next probe in ${this.retryAfter} ms`
    return new SluiceError('breaker-open', message, { transient: true })
  }
}

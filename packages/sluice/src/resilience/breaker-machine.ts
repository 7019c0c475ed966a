// The state machine of a circuit breaker. It reads no clock and draws no random number: both are arguments.
import type { Millis } from '../time/clock.ts'

/** When a breaker opens and probes. */
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

/** The entry of a call that must not go out. */
export const NO_ENTRY = 0

/** Half of the window that `ratio` is measured over. */
const HALF = 500
/** The ratio is ignored this long after the window began: one lost reply fails every request of its batch. */
const SETTLED = 200
/** Consecutive good probes that close it. */
const GOOD_PROBES = 2
/** A probe without a result for this long is forgotten. */
const LOST_PROBE = 10_000

/**
 * Closed, open, half-open. A call enters, and reports its result later. Results of calls that entered in an earlier
 * state are ignored.
 */
export class BreakerMachine {
  private readonly failures: number
  private readonly ratio: number
  private readonly calls: number
  private readonly firstProbe: Millis
  private readonly lastProbe: Millis
  /** Changes with every transition; a call holds the one it entered by. */
  private entry = 1
  private current: BreakerState = 'closed'
  private row = 0
  private lastFailure: Millis = -Infinity
  private good = 0
  private bad = 0
  private goodBefore = 0
  private badBefore = 0
  private halfSince: Millis = -Infinity
  private spanSince: Millis = -Infinity
  private openedAt: Millis = 0
  private probeAt: Millis = 0
  private failedProbes = 0
  private goodProbes = 0
  private probeLostAt: Millis | null = null

  constructor(options: BreakerOptions = {}) {
    this.failures = options.failures ?? 5
    this.ratio = options.ratio ?? 0.5
    this.calls = options.calls ?? 20
    this.firstProbe = options.firstProbe ?? 100
    this.lastProbe = options.lastProbe ?? 400
  }

  get state(): BreakerState {
    return this.current
  }

  get isClosed(): boolean {
    return this.current === 'closed'
  }

  /** The instant at which it opened last. */
  get openSince(): Millis {
    return this.openedAt
  }

  /** Until the next probe; at least 1, so that callers never retry at once. */
  nextProbe(now: Millis): Millis {
    return Math.max(1, Math.ceil(this.probeAt - now))
  }

  /** The entry for one call, or {@link NO_ENTRY}. Unless the breaker is closed, the call that enters is the probe. */
  enter(now: Millis): number {
    if (this.current === 'closed') return this.entry
    if (this.current === 'open') {
      if (now < this.probeAt) return NO_ENTRY
      this.change('half-open')
      this.goodProbes = 0
    } else if (this.probeLostAt !== null && now < this.probeLostAt) {
      return NO_ENTRY
    }
    this.probeLostAt = now + LOST_PROBE
    return ++this.entry
  }

  /** A call that entered while the breaker was closed succeeded. Takes no instant: this is nearly every call. */
  passed(): void {
    this.row = 0
    this.good += 1
  }

  /** A call succeeded. */
  succeeded(entry: number): void {
    if (entry !== this.entry) return
    if (this.current === 'closed') return this.passed()
    this.probeLostAt = null
    this.goodProbes += 1
    if (this.goodProbes < GOOD_PROBES) return
    this.row = 0
    this.forgetCounts()
    this.change('closed')
  }

  /** A call failed or took too long. `random` is from 0 to 1. */
  failed(entry: number, now: Millis, random: number): void {
    if (entry !== this.entry) return
    if (this.current !== 'closed') {
      this.failedProbes += 1
      this.open(now, random)
      return
    }
    this.count(now)
    if (this.row >= this.failures || this.isMostlyBad(now)) {
      this.openedAt = now
      this.failedProbes = 0
      this.open(now, random)
    }
  }

  /** A call was answered without the store: as if it had never entered. */
  withdrew(entry: number): void {
    if (entry === this.entry) this.probeLostAt = null
  }

  /** The store seems to be reachable again: the next call is the probe. */
  hint(now: Millis): void {
    if (this.current === 'open') this.probeAt = Math.min(this.probeAt, now)
  }

  private open(now: Millis, random: number): void {
    const longest = Math.min(this.lastProbe, this.firstProbe * 2 ** Math.min(this.failedProbes, 20))
    // Between half and all of it, so that clients that failed together do not probe together.
    this.probeAt = now + longest * (0.5 + random / 2)
    this.probeLostAt = null
    this.change('open')
  }

  private count(now: Millis): void {
    if (now !== this.lastFailure) this.row += 1
    this.lastFailure = now
    if (now - this.halfSince >= 2 * HALF || now < this.halfSince) {
      this.forgetCounts()
      this.halfSince = now
      this.spanSince = now
    } else if (now - this.halfSince >= HALF) {
      this.goodBefore = this.good
      this.badBefore = this.bad
      this.spanSince = this.halfSince
      this.halfSince = now
      this.good = 0
      this.bad = 0
    }
    this.bad += 1
  }

  private isMostlyBad(now: Millis): boolean {
    const bad = this.bad + this.badBefore
    const all = bad + this.good + this.goodBefore
    return now - this.spanSince >= SETTLED && all >= this.calls && bad >= all * this.ratio
  }

  private forgetCounts(): void {
    this.good = 0
    this.bad = 0
    this.goodBefore = 0
    this.badBefore = 0
    this.halfSince = -Infinity
  }

  private change(state: BreakerState): void {
    this.current = state
    this.entry += 1
  }
}

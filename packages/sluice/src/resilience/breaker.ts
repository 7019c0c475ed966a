// When to ask a store that fails, and when to leave it alone. Nothing here reads a clock or draws a number.
import type { Millis } from '../time/clock.ts'

/** How a breaker may differ from its defaults. */
export interface BreakerOptions {
  /** Failures in a row that open it. Those of one millisecond count as one: a lost reply fails many requests. Default 5. */
  readonly failures?: number
  /** The share of failed calls that opens it, once `calls` were made within a second. Default 0.5. */
  readonly ratio?: number
  /** The fewest calls that make a ratio. Default 20. */
  readonly calls?: number
  /** Milliseconds until the first probe, at most; doubled after each failed one. Default 100. */
  readonly firstProbe?: Millis
  /** The most milliseconds between two probes. Default 400. */
  readonly lastProbe?: Millis
}

/** Whether the store is asked: always, not at all, or by one request at a time. */
export type BreakerState = 'closed' | 'open' | 'half-open'

/** No entry: the store is not to be asked. */
export const NO_ENTRY = 0

/** Half of the span that the ratio looks at. */
const HALF = 500
/** A ratio of the first moments says nothing: one lost reply fails all requests that travelled together. */
const SETTLED = 200
/** Good probes in a row that close it. */
const GOOD_PROBES = 2
/** A probe that nobody has reported on for so long is forgotten. */
const LOST_PROBE = 10_000

/**
 * Closed, open, half-open. A call enters, and says later how it went. What was begun in an earlier state has
 * no say in the present one.
 */
export class Breaker {
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

  /** Until the next probe; at least 1, since nobody should come back at once. */
  nextProbe(now: Millis): Millis {
    return Math.max(1, Math.ceil(this.probeAt - now))
  }

  /** The entry for one call, or {@link NO_ENTRY}. When it is not closed, whoever enters is the probe. */
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

  /** A call that entered while it was closed went well. Needs no time, since nearly all do. */
  passed(): void {
    this.row = 0
    this.good += 1
  }

  /** A call went well. */
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

  /** A call ended without asking the store: as if it had never entered. */
  withdrew(entry: number): void {
    if (entry === this.entry) this.probeLostAt = null
  }

  /** The store says it is back: the next call is the probe. */
  hint(now: Millis): void {
    if (this.current === 'open') this.probeAt = Math.min(this.probeAt, now)
  }

  private open(now: Millis, random: number): void {
    const longest = Math.min(this.lastProbe, this.firstProbe * 2 ** Math.min(this.failedProbes, 20))
    // Between half and all of it: clients that failed together do not come back together.
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

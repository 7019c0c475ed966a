// Learns the rate that a server allows: from its headers if it sends them, else from its refusals.
import type { Millis } from '../time/clock.ts'
import { waitAfterRefusal, waitForSpentQuotas, type Hint } from './hints/hint.ts'
import { REQUESTS, type Quota } from './hints/quota.ts'

/** The response to one request. */
export interface Observation {
  readonly sentAt: Millis
  readonly refused: boolean
  readonly hint: Hint
}

/** The share of a rate in the headers that is used. Together with the gate's tolerance it fits any window of the server. */
const HEADER_MARGIN = 0.97
/** The share used of the rate that was measured between two runs of refusals. */
const MEASURED_MARGIN = 0.98
/** The share used of a rate that was refused after a long climb. */
const SEARCH_MARGIN = 0.97
/** Factor after a refusal although the rate kept within the headers: other clients use the same quota. */
const HEADER_CUT = 0.95
/** Factor after a level proved too high and nothing better is known. */
const CUT = 0.85
/** Factor after a level proved too high that the previous search had confirmed: most likely chance. */
const PROVEN_CUT = 0.97
/** A search that ends at most this far above its level has confirmed the level. */
const SHORT_CLIMB = 0.05
/** A search that ends further than this above its level has found a new limit. */
const LONG_CLIMB = 0.2
/** How far below its level a search starts, which lets a bucket refill a little. */
const DIP = 0.04
/** A level below this share of the previous one counts as a steep fall. */
const STEEP_FALL = 0.8
/** How long, and for how many requests, a search stays below its level before it climbs above it. */
const HOLD_TIME: Millis = 60_000
const HOLD_REQUESTS = 300
/** The fewest responses between two runs of refusals that make a measurement. */
const MIN_SAMPLE = 20
/** The pause after a refusal that names no wait; 1.5 times as long for each further refusal of the same run. */
const MIN_PAUSE: Millis = 100
/** The longest pause, whatever wait the server named. */
const MAX_PAUSE: Millis = 600_000

/**
 * A rate in requests per millisecond that follows a server's limit. Time is an argument.
 *
 * If headers name a rate, it stays 3 % below that. Otherwise it doubles until the first refusal. From then on it
 * keeps a level: it approaches the level from below along a cubic curve, stays near it for a long time, and then
 * climbs ever faster. The next refusal bounds the limit. If the level held that long, the limit is between the
 * level and the refused rate. If it did not, the limit is between the rate measured since the previous refusal and
 * the level.
 */
export class LearnedRate {
  /** No request is sent before this instant. */
  closedUntil: Millis = 0
  private readonly start: number
  /** The rate until a level is known; it doubles. */
  private first: number
  private level: number | undefined
  /** The duration of the present search. */
  private searched: Millis = 0
  /** Whether the last search confirmed the level. */
  private isProven = false
  /** Whether the level fell steeply. It may now be far too low, so the next search starts sooner. */
  private hasFallen = false
  private hasHeaders = false
  /** Our share of the rate in the headers; 1 if no other client uses the quota. */
  private share = 1
  private lastAnswer: Millis | undefined
  private lastRefusal: Millis | undefined
  /** Whether a request sent after the last refusal has passed. Until then, refusals belong to one run. */
  private hasRecovered = true
  private pause: Millis = MIN_PAUSE
  private runBegan: Millis = 0
  /** The longest time the server has kept refusing; its window is at least that long. */
  private longestRefusal: Millis = 0
  /** The requests that passed since the last run of refusals, and when that run was. */
  private passed = 0
  private passedSince: Millis | undefined

  constructor(startPerMillis: number) {
    this.start = startPerMillis
    this.first = startPerMillis
  }

  /** The present rate. */
  get perMillis(): number {
    if (this.level === undefined) return this.first
    if (this.hasHeaders) return this.level
    return this.level * (1 + DIP * (this.searched / this.holdTime - 1) ** 3)
  }

  /** Learns from a response. `isBusy`: requests were held back by the rate since the previous response. */
  learn({ sentAt, refused, hint }: Observation, now: Millis, isBusy: boolean): void {
    const passing = Math.min(1000, Math.max(0, now - (this.lastAnswer ?? now)))
    this.lastAnswer = now
    if (refused) this.noteRefusal(sentAt, now, waitAfterRefusal(hint))
    else this.notePass(sentAt, now, waitForSpentQuotas(hint))
    const rate = headerRate(hint.quotas)
    if (rate !== undefined) this.followHeaders(rate, passing)
    else if (!refused && isBusy) this.grow(passing)
  }

  private notePass(sentAt: Millis, now: Millis, wait: Millis | undefined): void {
    this.passed += 1
    if (sentAt > (this.lastRefusal ?? -Infinity)) this.hasRecovered = true
    if (wait !== undefined) this.close(now, wait)
  }

  private noteRefusal(sentAt: Millis, now: Millis, wait: Millis | undefined): void {
    const reopened = this.closedUntil
    if (wait !== undefined) this.close(now, wait)
    // A request sent before the last refusal carries no new information.
    if (this.lastRefusal !== undefined && sentAt <= this.lastRefusal) return
    // A server that queues requests answers the ones that pass late. If the first request after the pause had been
    // refused, its refusal would have arrived by now, so the previous run is over.
    const refusalTime = 2 * (now - sentAt + 1 / this.perMillis)
    if (sentAt - reopened > refusalTime) this.hasRecovered = true
    this.lastRefusal = now
    this.pause = this.hasRecovered ? MIN_PAUSE : this.pause * 1.5
    if (wait === undefined) this.close(now, this.pause)
    if (this.hasRecovered) {
      this.runBegan = now
      this.cut(now)
    }
    this.longestRefusal = Math.max(this.longestRefusal, this.closedUntil - this.runBegan)
    this.hasRecovered = false
  }

  private close(now: Millis, wait: Millis): void {
    this.closedUntil = Math.max(this.closedUntil, now + Math.min(wait, MAX_PAUSE))
  }

  /** Adopts the rate in the headers. */
  private followHeaders(rate: number, passing: Millis): void {
    this.hasHeaders = true
    this.share = Math.min(1, this.share + passing * 5e-6)
    this.setLevel(HEADER_MARGIN * rate * this.share)
  }

  private grow(passing: Millis): void {
    // If headers have stopped arriving, their level counts as held.
    this.searched = this.hasHeaders ? this.holdTime : this.searched + passing
    this.hasHeaders = false
    // Doubles within a second, or within ten responses if those take longer.
    if (this.level === undefined) this.first *= 2 ** (1 / Math.max(10, this.first * 1000))
  }

  /** Lowers the rate at the start of a run of refusals. */
  private cut(now: Millis): void {
    const rate = this.perMillis
    if (this.hasHeaders) {
      this.share = Math.max(0.01, this.share * HEADER_CUT)
      return
    }
    const before = this.level ?? rate
    const hasHeld = this.level !== undefined && this.searched >= this.holdTime
    const isMeasured = this.passedSince !== undefined && this.passed >= MIN_SAMPLE
    const mean = this.passed / Math.max(1, now - (this.passedSince ?? now))
    this.setLevel(this.levelAfter(rate, hasHeld, mean, isMeasured))
    this.isProven = hasHeld && rate <= (1 + SHORT_CLIMB) * before
    this.hasFallen = (this.level ?? 0) < STEEP_FALL * before
    // Too few responses: keep counting towards the next measurement.
    if (!isMeasured && this.passedSince !== undefined) return
    this.passedSince = now
    this.passed = 0
  }

  /** The level after a run of refusals. */
  private levelAfter(rate: number, hasHeld: boolean, mean: number, isMeasured: boolean): number {
    const { level } = this
    if (level === undefined) return CUT * rate
    if (hasHeld) return levelAfterSearch(level, rate)
    if (this.passed >= HOLD_REQUESTS && level > 2 * mean)
      return Math.max(level / 2, MEASURED_MARGIN * mean)
    const cut = (this.isProven ? PROVEN_CUT : CUT) * level
    return isMeasured ? Math.max(cut, MEASURED_MARGIN * mean) : cut
  }

  private setLevel(level: number): void {
    this.level = Math.max(this.start / 1000, level)
    this.searched = 0
  }

  private get holdTime(): Millis {
    const full = Math.max(HOLD_TIME, HOLD_REQUESTS / (this.level ?? this.first))
    return Math.max(this.hasFallen ? full / 3 : full, 2 * this.longestRefusal)
  }
}

/** After a long climb close to the refused rate, after a medium one half way up, after a short one a small step. */
function levelAfterSearch(level: number, rate: number): number {
  const climb = rate - level
  if (climb > LONG_CLIMB * level) return SEARCH_MARGIN * rate
  if (climb > SHORT_CLIMB * level) return level + climb / 2
  return Math.min(level + climb / 10, MEASURED_MARGIN * rate)
}

/** The lowest rate among the quotas of requests; undefined if they do not determine one. */
function headerRate(quotas: readonly Quota[]): number | undefined {
  let lowest = Infinity
  for (const { unit, quota, window, remaining, resetAfter } of quotas) {
    if (unit !== REQUESTS) continue
    if (quota !== undefined && window !== undefined) lowest = Math.min(lowest, quota / window)
    // The window's length is unknown: the units left must last until the reset.
    else if (remaining !== undefined && remaining >= 1 && resetAfter)
      lowest = Math.min(lowest, remaining / resetAfter)
  }
  return lowest === Infinity ? undefined : lowest
}

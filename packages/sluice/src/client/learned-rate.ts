// Finds out how fast a server lets us go: from its headers when it tells, else from its refusals.
import type { Millis } from '../time/clock.ts'
import { spentFor, type Hint } from './hints/hint.ts'
import { REQUESTS, type Quota } from './hints/quota.ts'

/** What came back for one request. */
export interface Experience {
  readonly sentAt: Millis
  readonly refused: boolean
  readonly hint: Hint
}

/** How far we stay below what a server tells. With the gate's tolerance this fits any window of the server's. */
const BELOW_TOLD = 0.97
/** How far we stay below what came through between two runs of refusals. */
const BELOW_SHOWN = 0.98
/** How far we stay below a rate that was refused after a very long way up. */
const BELOW_FOUND = 0.97
/** How much is cut when we are refused although we keep to what we were told: others use the same quota. */
const CUT_TOLD = 0.95
/** How much is cut when a level proves too high and nothing better is known. */
const CUT = 0.85
/** How much is cut when a level proves too high that the search before has found good: it was chance, most likely. */
const CUT_PROVEN = 0.97
/** A search that ends no more than this above its level has found it good. */
const SMALL = 0.05
/** A search that ends further than this above its level has found another limit. */
const LONG = 0.2
/** How far below its level a search begins, which leaves a bucket time to fill up a little. */
const DIP = 0.04
/** A level below this part of the one before has fallen far. */
const FAR = 0.8
/** How long, and for how many requests, a search stays below its level before it looks for more. */
const PATIENCE: Millis = 60_000
const PATIENCE_REQUESTS = 300
/** Answers between two runs of refusals that make a measurement. */
const ENOUGH = 20
/** How long to keep still after a refusal that names no wait; half as long again for each one that follows at once. */
const SHORTEST_PAUSE: Millis = 100
/** The longest that a server is left alone: after that it is asked again, whatever it said. */
const LONGEST_PAUSE: Millis = 600_000

/**
 * A rate in requests per millisecond that follows a server's limit. Time is an argument.
 *
 * Told by headers, it stays 3 % below what they say. Untold, it doubles until the first refusal. After that it
 * holds a level: it approaches it from below along a cubic curve, stays around it for long, and then climbs ever
 * faster. Where that is refused, the limit lies between the level, if it held so long, and the rate; if it did not
 * hold, the limit lies between what came through since the refusal before, and the level.
 */
export class LearnedRate {
  /** Until when the server wants to hear nothing. */
  closedUntil: Millis = 0
  private readonly start: number
  /** Doubles until a level is known. */
  private first: number
  private level: number | undefined
  /** How long the present search has been going on. */
  private searched: Millis = 0
  /** Whether the last search ended just above the level. */
  private isProven = false
  /** Whether the level has fallen far at once: it may be too low by as much, so the next search comes sooner. */
  private hasFallen = false
  private isTold = false
  /** What others leave us of what the server tells: 1 when we are alone. */
  private share = 1
  private lastAnswer: Millis | undefined
  private lastRefusal: Millis | undefined
  /** Whether anything has passed that was sent after the last refusal: until then, refusals are one run. */
  private hasRecovered = true
  private pause: Millis = SHORTEST_PAUSE
  private runBegan: Millis = 0
  /** The longest that the server has kept us away: its window is at least that long. */
  private silence: Millis = 0
  /** What has passed, and since when: from one run of refusals to another. */
  private passed = 0
  private passedSince: Millis | undefined

  constructor(startPerMillis: number) {
    this.start = startPerMillis
    this.first = startPerMillis
  }

  /** The present rate. */
  get perMillis(): number {
    if (this.level === undefined) return this.first
    if (this.isTold) return this.level
    return this.level * (1 + DIP * (this.searched / this.patience - 1) ** 3)
  }

  /** An answer has come. `isBusy`: the rate was what held requests back since the last one. */
  learn({ sentAt, refused, hint }: Experience, now: Millis, isBusy: boolean): void {
    const passing = Math.min(1000, Math.max(0, now - (this.lastAnswer ?? now)))
    this.lastAnswer = now
    if (refused) this.refuse(sentAt, now, hint.retryAfter ?? spentFor(hint))
    else this.pass(sentAt, now, spentFor(hint))
    const told = toldRate(hint.quotas)
    if (told !== undefined) this.obey(told, passing)
    else if (!refused && isBusy) this.grow(passing)
  }

  private pass(sentAt: Millis, now: Millis, wait: Millis | undefined): void {
    this.passed += 1
    if (sentAt > (this.lastRefusal ?? -Infinity)) this.hasRecovered = true
    if (wait !== undefined) this.close(now, wait)
  }

  private refuse(sentAt: Millis, now: Millis, wait: Millis | undefined): void {
    const reopened = this.closedUntil
    if (wait !== undefined) this.close(now, wait)
    // What was sent before the last refusal says nothing that that one has not said.
    if (this.lastRefusal !== undefined && sentAt <= this.lastRefusal) return
    // Where passing takes long, as in a queue of the server's, refusals are what shows that a run is over: had the
    // first after the pause been refused, it would have been heard by now.
    const heardAfter = 2 * (now - sentAt + 1 / this.perMillis)
    if (sentAt - reopened > heardAfter) this.hasRecovered = true
    this.lastRefusal = now
    this.pause = this.hasRecovered ? SHORTEST_PAUSE : this.pause * 1.5
    if (wait === undefined) this.close(now, this.pause)
    if (this.hasRecovered) {
      this.runBegan = now
      this.cut(now)
    }
    this.silence = Math.max(this.silence, this.closedUntil - this.runBegan)
    this.hasRecovered = false
  }

  private close(now: Millis, wait: Millis): void {
    this.closedUntil = Math.max(this.closedUntil, now + Math.min(wait, LONGEST_PAUSE))
  }

  /** The server has told a rate. */
  private obey(told: number, passing: Millis): void {
    this.isTold = true
    this.share = Math.min(1, this.share + passing * 5e-6)
    this.set(BELOW_TOLD * told * this.share)
  }

  private grow(passing: Millis): void {
    // Headers that have stopped coming leave a level that held.
    this.searched = this.isTold ? this.patience : this.searched + passing
    this.isTold = false
    // Within a second, or within ten answers when those take longer.
    if (this.level === undefined) this.first *= 2 ** (1 / Math.max(10, this.first * 1000))
  }

  /** A run of refusals begins: the rate was too high. */
  private cut(now: Millis): void {
    const rate = this.perMillis
    if (this.isTold) {
      this.share = Math.max(0.01, this.share * CUT_TOLD)
      return
    }
    const before = this.level ?? rate
    const hasHeld = this.level !== undefined && this.searched >= this.patience
    const isMeasured = this.passedSince !== undefined && this.passed >= ENOUGH
    const mean = this.passed / Math.max(1, now - (this.passedSince ?? now))
    this.set(this.levelAfter(rate, hasHeld, mean, isMeasured))
    this.isProven = hasHeld && rate <= (1 + SMALL) * before
    this.hasFallen = (this.level ?? 0) < FAR * before
    // Too few answers go on counting towards the next measurement.
    if (!isMeasured && this.passedSince !== undefined) return
    this.passedSince = now
    this.passed = 0
  }

  /** The level after a run of refusals, by what is known of the one that was refused. */
  private levelAfter(rate: number, hasHeld: boolean, mean: number, isMeasured: boolean): number {
    const { level } = this
    if (level === undefined) return CUT * rate
    if (hasHeld) return between(level, rate)
    if (this.passed >= PATIENCE_REQUESTS && level > 2 * mean)
      return Math.max(level / 2, BELOW_SHOWN * mean)
    const cut = (this.isProven ? CUT_PROVEN : CUT) * level
    return isMeasured ? Math.max(cut, BELOW_SHOWN * mean) : cut
  }

  private set(level: number): void {
    this.level = Math.max(this.start / 1000, level)
    this.searched = 0
  }

  private get patience(): Millis {
    const full = Math.max(PATIENCE, PATIENCE_REQUESTS / (this.level ?? this.first))
    return Math.max(this.hasFallen ? full / 3 : full, 2 * this.silence)
  }
}

/** Most of the way up when it was very long, half of it when it was long; else a small step, clear of what was too high. */
function between(level: number, rate: number): number {
  const way = rate - level
  if (way > LONG * level) return BELOW_FOUND * rate
  if (way > SMALL * level) return level + way / 2
  return Math.min(level + way / 10, BELOW_SHOWN * rate)
}

/** The lowest rate that quotas of requests allow; undefined when they do not say. */
function toldRate(quotas: readonly Quota[]): number | undefined {
  let lowest = Infinity
  for (const { unit, quota, window, remaining, resetAfter } of quotas) {
    if (unit !== REQUESTS) continue
    if (quota !== undefined && window !== undefined) lowest = Math.min(lowest, quota / window)
    // Of a window whose length is not told, what is left must last until its end.
    else if (remaining !== undefined && remaining >= 1 && resetAfter)
      lowest = Math.min(lowest, remaining / resetAfter)
  }
  return lowest === Infinity ? undefined : lowest
}

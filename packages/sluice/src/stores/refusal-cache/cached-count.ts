// What the store last said of one count, and what it would say now if only time has passed since.
import type { State } from '../../algorithms/algorithm.ts'
import { algorithmOf } from '../../algorithms/table.ts'
import type { Limit } from '../../limit/limit.ts'
import { LazyVerdict, peekBy } from '../../limit/take.ts'
import type { Verdict } from '../../limit/verdict.ts'
import type { Millis } from '../../time/clock.ts'
import type { Check, KnownRefusal } from '../store.ts'

/** When a request was sent and answered, by our own clock. */
export interface RequestTimes {
  readonly sentAt: Millis
  readonly answeredAt: Millis
}

/** A check with the last known state of its count, for a server that may have dropped the count. */
export interface CheckWithState extends Check {
  readonly lastState?: State
}

/**
 * One count by its last answer. The store decided at some instant between sending and answer. The earliest is assumed
 * for the question whether the store still refuses, so that no request is refused for longer than by the store itself.
 * The latest is assumed for waits, so that no retry comes too early.
 */
export class CachedCount {
  private limit!: Limit
  private cost!: number
  private verdict!: Verdict
  /** Undefined for an algorithm whose answer does not carry the whole state. */
  private state: State | undefined
  private times!: RequestTimes
  private isRefusing = false

  constructor(check: Check, verdict: Verdict, times: RequestTimes) {
    this.update(check, verdict, times)
  }

  /** Takes over a newer answer. */
  update({ limit, cost, shadow }: Check, verdict: Verdict, times: RequestTimes): void {
    this.limit = limit
    this.cost = cost
    this.verdict = verdict
    this.state = stateOf(verdict)
    this.times = times
    this.isRefusing = !verdict.allowed && shadow !== true
  }

  /** Whether the store made this decision before the one that is cached. */
  isNewerThan(verdict: Verdict): boolean {
    return this.verdict.at > verdict.at
  }

  /** Whether the answer may stand for one of the store: not older than `hold`, and by the same limit. */
  isFresh(limit: Limit, now: Millis, hold: Millis): boolean {
    const age = now - this.times.sentAt
    return age >= 0 && age < hold && limit === this.limit
  }

  /** Whether the store would refuse the cost. */
  refuses(cost: number, now: Millis): boolean {
    if (cost === 0) return false
    const { limit, verdict, state } = this
    const latest = this.latest(now)
    if (state !== undefined) return !algorithmOf(limit).take(limit, { ...state }, cost, latest)
    if (verdict.allowed || cost < this.cost) return false
    return verdict.retryAfter === null || latest < verdict.at + verdict.retryAfter
  }

  /** The verdict on the cost now, if nothing is taken; undefined when too little is known. */
  verdictOn(cost: number, now: Millis): Verdict | undefined {
    return this.verdictAt(cost, this.earliest(now))
  }

  /** What is known of this count, which was refused before, aged to now; undefined when too little is known. */
  refusalOf(cost: number, now: Millis): KnownRefusal | undefined {
    const at = this.refuses(cost, now) ? this.earliest(now) : this.latest(now)
    const verdict = this.verdictAt(cost, at)
    if (verdict === undefined) return undefined
    const { limit, state } = this
    // A window is free again when the refusal ends; of a log without its state, no more than its wait is known.
    const isGradual = state !== undefined && limit.algorithm !== 'fixed-window'
    return { limit, verdict, ...(isGradual && { answeredAt: this.verdict.at }) }
  }

  /** The state to send along: that of a count which refused and still does. */
  stateToSend(now: Millis): State | undefined {
    return this.isRefusing && this.refuses(this.cost, now) ? this.state : undefined
  }

  private verdictAt(cost: number, at: Millis): Verdict | undefined {
    const { limit, state } = this
    if (state !== undefined)
      return peekBy(algorithmOf(limit), limit, { ...state }, cost, at, 'cache')
    return cost === this.cost ? currentVerdict(this.verdict, at) : undefined
  }

  /** The latest that the store's time may be. Its milliseconds begin at other moments than ours. */
  private latest(now: Millis): Millis {
    return this.verdict.at + Math.ceil(now - this.times.sentAt)
  }

  /** The earliest that the store's time may be. */
  private earliest(now: Millis): Millis {
    return this.verdict.at + Math.floor(now - this.times.answeredAt)
  }
}

/** The state that a verdict carries, if it carries the whole of it. */
export function stateOf(verdict: Verdict): State | undefined {
  return verdict instanceof LazyVerdict ? verdict.next : undefined
}

/** What a verdict without a state has become by now; undefined once units have come free, since no more is known of them. */
function currentVerdict(verdict: Verdict, now: Millis): Verdict | undefined {
  const elapsed = now - verdict.at
  const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay } = verdict
  if (availableAfter > 0 && elapsed >= availableAfter) return undefined
  const remainingWait = (wait: Millis): Millis => Math.max(0, wait - elapsed)
  return {
    allowed,
    remaining,
    retryAfter: retryAfter === null ? null : remainingWait(retryAfter),
    resetAfter: remainingWait(resetAfter),
    availableAfter: remainingWait(availableAfter),
    delay,
    at: now,
    source: 'cache',
  }
}

// What this process knows of one synced count: the total of the last answer, and what was taken here since.
import type { CombinedTake, CombinedTakeOwner } from './combined-takes.ts'
import { algorithmOf } from '../algorithms/table.ts'
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import { raisedCost, raisedLimit, type HeldNumbers } from '../stores/holds/held-count.ts'
import { HeldVerdict, numbersOf } from '../stores/holds/held-verdict.ts'
import type { Check } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'

/** What one call carried of a count: units taken here, and units that it asked for. */
export interface Sent {
  readonly sent: number
  readonly asked: number
  /** Calls are numbered in the order in which they are sent. */
  readonly number: number
}

/** One count of which each process keeps a copy. */
export class SyncedCount implements CombinedTakeOwner {
  readonly space: string
  readonly key: string
  readonly limit: Limit
  readonly slowestQuota: number | undefined
  combinedTake: CombinedTake | null = null
  /** Calls under way that book what was taken here. */
  private syncs = 0
  /** Whether requests are decided here; what was last reported. */
  isLocal = false
  /** Syncs since anything was last wanted. */
  idleSyncs = 0
  private readonly raised: Limit
  private numbers: HeldNumbers | undefined
  /** The store's time of the last answer, and the earliest and the latest instant here that it may correspond to. */
  private at: Millis = 0
  private sentAt = 0
  private answeredAt = 0
  /** From here on others may have taken more than the bound allows for. */
  private validUntil = -Infinity
  /** Units taken here that are not on their way to the store. */
  unsent = 0
  /** The latest of the store's time at which units were taken here. */
  private takenAt: Millis = 0
  /** Units taken here that are on their way to the store. */
  private inFlight = 0
  /** Units requested by calls in flight: the store may grant them before its answer arrives. */
  private asked = 0
  /** Units that were admitted here in the current period, in the one before, and its number. */
  private current = 0
  private before = 0
  private period = 0
  /** The number of the call whose answer was last taken over. */
  private learned = 0
  /** Units that others took between the last two answers. */
  private others = 0

  constructor({ space, key, limit, slowestQuota }: Check) {
    this.space = space
    this.key = key
    this.limit = limit
    this.slowestQuota = slowestQuota
    this.raised = raisedLimit(limit)
  }

  /** Takes units here, if the last answer is recent enough and far enough from the limit. Else undefined, with nothing done. */
  take(cost: number, now: number): Verdict | undefined {
    const { numbers, limit } = this
    this.idleSyncs = 0
    if (numbers === undefined || now >= this.validUntil) return undefined
    const at = this.storeTime(now)
    // Twice what others took lately: they may do so again before this process sees it.
    if (this.roomAt(numbers, at) - this.asked - cost < 2 * this.others) return undefined
    if (this.mayBeNextWindow(numbers, now)) return undefined
    algorithmOf(limit).spend(this.raised, numbers.state, cost, at)
    this.unsent += cost
    // What is known of the store's time may go back with an answer; what was taken stays in its window.
    if (at > this.takenAt) this.takenAt = at
    return new HeldVerdict(limit, numbersOf(numbers), cost, at, true, 'memory')
  }

  /** Puts units back that were taken here and are not on their way to the store. False if they are. */
  putBack(cost: number, now: number): boolean {
    const { numbers, limit } = this
    if (numbers === undefined || this.unsent < cost) return false
    this.unsent -= cost
    const at = this.storeTime(now)
    algorithmOf(limit).refund(this.raised, numbers.state, cost, at, at)
    return true
  }

  /** Puts units back that were taken at an instant of the store's time, unless others were taken here later. */
  refund(cost: number, takenAt: Millis | undefined, now: number): boolean {
    return takenAt !== undefined && takenAt >= this.takenAt && this.putBack(cost, now)
  }

  /** Whether one unit could be taken here. */
  isLocalAt(now: number): boolean {
    const { numbers } = this
    if (numbers === undefined || now >= this.validUntil) return false
    return this.roomAt(numbers, this.storeTime(now)) - this.asked - 1 >= 2 * this.others
  }

  /** Whether a call that books what was taken here is under way. */
  get isSyncing(): boolean {
    return this.syncs > 0
  }

  /** Marks what was taken here as under way. Returns the check that books it. `asked`: units that the call asks for besides. */
  send(asked: number): Check {
    const { space, key, limit, slowestQuota } = this
    const cost = this.unsent
    this.syncs += 1
    this.asked += asked
    this.inFlight += cost
    this.unsent = 0
    const place = { space, key, limit, slowestQuota, holds: true }
    return { ...place, cost, shadow: true, partial: true, booked: true }
  }

  /** The store has booked what was sent, and answered; `taken` are units that it granted besides. */
  learn(
    { sent, asked, number }: Sent,
    verdict: Verdict,
    taken: number,
    sentAt: number,
    now: number,
    validUntil: number,
  ): void {
    this.syncs -= 1
    this.asked -= asked
    this.inFlight -= sent
    // The store acted on an older call first, though not always in the order in which calls were sent.
    if (!(verdict instanceof HeldVerdict) || verdict.at < this.at) return
    const { numbers: before } = this
    if (verdict.at === this.at && number < this.learned && before !== undefined) {
      // Both within one millisecond, in either order: the total may lack what this call took.
      this.spend(before, sent + taken, verdict.at)
      return
    }
    this.learned = number
    const expected = before === undefined ? undefined : this.roomAt(before, verdict.at) - taken
    const numbers = numbersOf(verdict.numbers)
    this.at = verdict.at
    this.sentAt = sentAt
    this.answeredAt = now
    this.validUntil = validUntil
    this.numbers = numbers
    // What the answer may not know of, perhaps taken in a window that began after it.
    const unseen = this.unsent + this.inFlight
    if (unseen > 0) this.spend(numbers, unseen, Math.max(verdict.at, this.takenAt))
    const room = this.roomAt(numbers, verdict.at)
    this.others = expected === undefined ? 0 : Math.max(0, expected - room)
  }

  /** Adds units that were admitted here. Returns those of this period and of the one before. */
  countRecent(units: number, now: number, period: Millis): number {
    const number = Math.floor(now / period)
    if (number !== this.period) {
      this.before = number === this.period + 1 ? this.current : 0
      this.current = 0
      this.period = number
    }
    this.current += units
    return this.before + this.current
  }

  /** The call failed: what was sent is kept, and sent again. */
  noteFailure({ sent, asked }: Sent): void {
    this.syncs -= 1
    this.asked -= asked
    this.unsent += sent
    this.inFlight -= sent
  }

  /** Forgets the total and what was taken here. */
  forget(): void {
    this.numbers = undefined
    this.unsent = 0
  }

  /** Lets time pass, and spends units. */
  private spend({ state }: HeldNumbers, units: number, at: Millis): void {
    const algorithm = algorithmOf(this.limit)
    algorithm.take(this.limit, state, 0, at)
    algorithm.spend(this.raised, state, units, at)
  }

  /** Lets time pass, and gives the units that fit. */
  private roomAt(numbers: HeldNumbers, at: Millis): number {
    const { raised, limit } = this
    const algorithm = algorithmOf(limit)
    algorithm.take(limit, numbers.state, 0, at)
    return (
      algorithm.remaining(raised, numbers.state, at) - raisedCost(limit, raised, numbers.out, 0)
    )
  }

  /** Whether the store may have begun another window, in which the cost would count. */
  private mayBeNextWindow({ state }: HeldNumbers, now: number): boolean {
    const { limit } = this
    const algorithm = algorithmOf(limit)
    if (algorithm.hasBurst) return false
    const later = { ...state }
    algorithm.take(limit, later, 0, this.at + Math.ceil(now - this.sentAt))
    return later.at !== state.at
  }

  /** The earliest that the store's time may be. */
  private storeTime(now: number): Millis {
    return this.at + Math.floor(Math.max(0, now - this.answeredAt))
  }
}

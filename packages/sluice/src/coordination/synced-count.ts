// What this process knows of one synced count: the total of the last answer, and what was taken here since.
import { algorithmOf } from '../algorithms/table.ts'
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import { raisedCost, raisedLimit, type HeldNumbers } from '../stores/holds/held-count.ts'
import { HeldVerdict, numbersOf } from '../stores/holds/held-verdict.ts'
import type { Check } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'

/** One count of which each process keeps a copy. */
export class SyncedCount {
  readonly space: string
  readonly key: string
  readonly limit: Limit
  readonly slowestQuota: number | undefined
  /** Whether a call that books what was taken here is under way. */
  isSyncing = false
  /** Whether requests are decided here; what was last reported. */
  isLocal = false
  /** Syncs since anything was last wanted. */
  idleSyncs = 0
  private readonly raised: Limit
  private numbers: HeldNumbers | undefined
  /** The store's time of the last answer, and the latest instant here that it may correspond to. */
  private at: Millis = 0
  private answeredAt = 0
  /** From here on others may have taken more than the bound allows for. */
  private validUntil = -Infinity
  /** Units taken here that are not on their way to the store. */
  unsent = 0
  private underWay = 0
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
    if (this.roomAt(numbers, at) - cost < 2 * this.others) return undefined
    algorithmOf(limit).spend(this.raised, numbers.state, cost, at)
    this.unsent += cost
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

  /** Whether one unit could be taken here. */
  isLocalAt(now: number): boolean {
    const { numbers } = this
    if (numbers === undefined || now >= this.validUntil) return false
    return this.roomAt(numbers, this.storeTime(now)) - 1 >= 2 * this.others
  }

  /** Marks what was taken here as under way. Returns the check that books it. */
  send(): Check {
    const { space, key, limit, slowestQuota } = this
    const cost = this.unsent
    this.isSyncing = true
    this.underWay = cost
    this.unsent = 0
    const place = { space, key, limit, slowestQuota, holds: true }
    return { ...place, cost, shadow: true, partial: true, booked: true }
  }

  /** The store has booked what was sent. Returns the units for which there was no room. */
  learn(verdict: Verdict, now: number, validUntil: number): number {
    const sent = this.underWay
    this.isSyncing = false
    this.underWay = 0
    if (!(verdict instanceof HeldVerdict)) return 0
    const { numbers: before } = this
    const expected = before === undefined ? undefined : this.roomAt(before, verdict.at)
    const numbers = numbersOf(verdict.numbers)
    this.at = verdict.at
    this.answeredAt = now
    this.validUntil = validUntil
    this.numbers = numbers
    if (this.unsent > 0)
      algorithmOf(this.limit).spend(this.raised, numbers.state, this.unsent, verdict.at)
    const room = this.roomAt(numbers, verdict.at)
    this.others = expected === undefined ? 0 : Math.max(0, expected - room)
    return sent - (verdict.held ?? 0)
  }

  /** The call failed: what was sent is kept, and sent again. */
  keep(): void {
    this.isSyncing = false
    this.unsent += this.underWay
    this.underWay = 0
  }

  /** Forgets the total and what was taken here. */
  forget(): void {
    this.numbers = undefined
    this.unsent = 0
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

  /** The earliest that the store's time may be. */
  private storeTime(now: number): Millis {
    return this.at + Math.floor(Math.max(0, now - this.answeredAt))
  }
}

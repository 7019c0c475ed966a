// What this process knows of one leased count: its lease, its demand, and its exchange in flight.
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Settlement } from '../stores/holds/hold-store.ts'
import type { Check } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import { Demand } from './demand.ts'
import type { CombinedTake, CombinedTakeOwner } from './combined-takes.ts'
import { CLOCK_TOLERANCE } from './lease-clock.ts'
import { NO_LEASE, type Lease } from './lease.ts'
import { NO_CONTACT_NEEDED, type Contact } from './store-contact.ts'

/** Share of its life by which a lease ends earlier here than in the store, since two clocks run at different speeds. */
const DRIFT = 0.001

/** A long lease is renewed if at least so many of its units were wanted. */
const MIN_REUSES = 2

/** Keeps every unit that is out. */
const ALL = Number.MAX_SAFE_INTEGER

/** One count of which units are leased. */
export class LeasedCount implements CombinedTakeOwner {
  readonly limit: Limit
  /** The lease that is spent, and reported with the next exchange. */
  lease: Lease
  /**
   * A lease of which the store may or may not have booked the last report. It is spent to its end and never reported
   * again: whatever the store has recorded is at least what is left of it.
   */
  private unsettled: Lease
  /** Units wanted since the demand was last observed. */
  private wanted: number
  /** Units wanted since the last miss: a request that no lease covered, or a refill. */
  private sinceMiss: number
  /** A refill is due when no more units than this are left. */
  private refillAt: number
  readonly space: string
  readonly key: string
  readonly slowestQuota: number | undefined
  /** Whether it is leased only under high demand. */
  readonly isAuto: boolean
  readonly demand: Demand
  combinedTake: CombinedTake | null
  /** The exchange in flight; at most one at a time. */
  pending: Promise<unknown> | null
  /** Whether the store had almost nothing to lease the last time. */
  isScarce: boolean
  /** Whether half of the limit was free when the store last answered, so that a few units may lapse. */
  isPlentiful: boolean
  /** Whether sweeps leave it out until its long lease ends. */
  isResting: boolean
  /** When the sweeps look at it again. */
  restsUntil: number
  /** Until then no refill is sent in the background. */
  noRefillUntil: number
  /** Sweeps since anything was last wanted. */
  idleSweeps: number
  /** Whether the last switch that was reported was to leasing. */
  isLeasing: boolean
  /** When the last miss was. */
  private missedAt: number
  /** Units and milliseconds between the last two misses. */
  private slowUnits: number
  private slowSpan: Millis

  /** `seenAt`: when the key was asked for before. */
  constructor(
    check: Check,
    isAuto: boolean,
    horizon: Millis,
    now: number,
    isPlentiful: boolean = false,
    seenAt: number = -Infinity,
  ) {
    const { space, key, limit, slowestQuota } = check
    // In this order: what each spend reads is in the first line of the processor's cache.
    this.limit = limit
    this.lease = NO_LEASE
    this.unsettled = NO_LEASE
    this.wanted = 0
    this.sinceMiss = 0
    this.refillAt = 0
    this.space = space
    this.key = key
    this.slowestQuota = slowestQuota
    this.isAuto = isAuto
    this.demand = new Demand(horizon, now)
    this.combinedTake = null
    this.pending = null
    this.isScarce = false
    this.isPlentiful = isPlentiful
    this.isResting = false
    this.restsUntil = -Infinity
    this.noRefillUntil = -Infinity
    this.idleSweeps = 0
    this.isLeasing = false
    this.missedAt = seenAt
    this.slowUnits = 0
    this.slowSpan = Infinity
  }

  /** Spends units of a lease that covers them at `now`. Returns the lease; undefined when none does. */
  spend(cost: number, now: number): Lease | undefined {
    const { unsettled } = this
    const lease = cost <= unsettled.left && canSpend(unsettled, now) ? unsettled : this.lease
    if (cost > lease.left || !canSpend(lease, now)) return undefined
    lease.left -= cost
    lease.spent += cost
    lease.spentAt = Math.ceil(now)
    this.wanted += cost
    this.sinceMiss += cost
    return lease
  }

  /**
   * Puts units back into their lease that were spent after so many reports. False if it has ended, or if they were reported
   * since: the store has booked them then, and units that were spent later must not stand for them.
   */
  unspend(lease: Lease, reports: number, cost: number, now: number): boolean {
    const isOurs = lease === this.lease || lease === this.unsettled
    if (!isOurs || now >= lease.end || lease.reports !== reports) return false
    lease.left += cost
    lease.spent -= cost
    return true
  }

  /**
   * Puts units back that were taken at an instant of the store's time. False if the lease has ended, or if it has spent
   * units later: units of the store would then stand for units that were spent after them.
   */
  refund(cost: number, takenAt: Millis | undefined, now: number): boolean {
    const { lease } = this
    const { grantedAt, spentAt, sentAt } = lease
    const latest = grantedAt + Math.ceil(Math.max(0, spentAt - sentAt))
    if (takenAt === undefined || takenAt < latest) return false
    return lease.spent >= cost && this.unspend(lease, lease.reports, cost, now)
  }

  /** Notes units that no lease covered; 0 with a refill. */
  noteMiss(cost: number, now: number): void {
    this.wanted += cost
    this.sinceMiss += cost
    // Several misses of one turn count as one.
    if (now === this.missedAt) return
    this.slowUnits = this.sinceMiss
    this.slowSpan = now - this.missedAt
    this.missedAt = now
    this.sinceMiss = 0
  }

  /** Units that will be wanted within so many milliseconds, estimated from a few requests. */
  slowDemand(within: Millis, minSpan: Millis = 0): number {
    return (this.slowUnits * within) / Math.max(this.slowSpan, minSpan)
  }

  /** Notes the state of the count in a verdict of the store. */
  learn({ remaining }: Verdict): void {
    this.isPlentiful = 2 * remaining >= this.limit.burst
  }

  /** Units that can be spent at `now`. */
  leftAt(now: number): number {
    const { lease, unsettled } = this
    return (canSpend(lease, now) ? lease.left : 0) + (canSpend(unsettled, now) ? unsettled.left : 0)
  }

  /** Whether a refill is due. */
  get needsRefill(): boolean {
    return this.lease.left <= this.refillAt
  }

  /** Whether an exchange may settle the lease and ask for more. */
  mayExchange(now: number): boolean {
    return this.pending === null && !(this.isScarce && now < this.noRefillUntil)
  }

  /** Whether anything was wanted since the demand was last observed. */
  get isWanted(): boolean {
    return this.wanted > 0
  }

  /** Whether units were wanted again since the last miss. */
  get isReused(): boolean {
    return this.sinceMiss >= MIN_REUSES
  }

  /** Units that will be needed within one horizon. */
  expected(now: number): number {
    this.demand.observe(this.wanted, now)
    this.wanted = 0
    return this.demand.perHorizon(now)
  }

  /** The settlement that reports what was spent and keeps at most `keep` units here; undefined if there is nothing to report. */
  report(now: number, keep: number = ALL): Settlement | undefined {
    const { lease, space, key, limit, slowestQuota } = this
    if (now >= lease.end) {
      // The store has ended it too, or will in a moment, and counts all of its units as spent.
      this.lease = NO_LEASE
      return undefined
    }
    const { id, spent } = lease
    const stays = Math.min(lease.left, keep)
    if (spent === 0 && stays === lease.left) return undefined
    lease.left = stays
    lease.spent = 0
    lease.reports += 1
    const kept = keep === ALL ? ALL : stays
    return { space, key, limit, slowestQuota, id, spent, keep: kept }
  }

  /** The store has leased units, which it decided between `sentAt` and `now`, at `grantedAt` by its own clock. */
  grant(
    id: string,
    units: number,
    life: Millis,
    grantedAt: Millis,
    sentAt: number,
    now: number,
    /** Units that are wanted until a refill can be there. */
    meanwhile: number,
    /** Of a long lease: how long it may last, and what it is spent by. */
    longLife: Millis = 0,
    contact: Contact = NO_CONTACT_NEEDED,
  ): void {
    const end = Math.floor(LeasedCount.endOf(life, sentAt))
    const { lease } = this
    this.refillAt = Math.floor(Math.max(units / 4, Math.min(meanwhile, (units * 3) / 4)))
    // A store that lost its record has recorded the new units only.
    if (lease.id === id && lease.contact.until !== -Infinity) {
      // So may have one that ended the lease before it got the call. What is spent of it is still to be reported.
      lease.left = units + (now < lease.end ? lease.left : 0)
      lease.end = Math.max(lease.end, end)
      if (longLife > 0) lease.contact = contact
      lease.longLife = Math.max(lease.longLife, longLife)
      lease.storeLead = grantedAt - now
      lease.grantedAt = grantedAt
      lease.sentAt = sentAt
    } else
      this.lease = {
        left: units,
        spent: 0,
        end,
        spentAt: Math.ceil(sentAt),
        contact,
        storeLead: grantedAt - now,
        id,
        reports: 0,
        longLife,
        grantedAt,
        sentAt,
      }
  }

  /** The store does not know the lease: nothing more is spent from it. */
  dropLeases(): void {
    this.lease = NO_LEASE
    this.unsettled = NO_LEASE
  }

  /** Drops a lease of which the store may have lost its record. */
  dropLostLease(): void {
    if (this.lease.contact.until === -Infinity) this.lease = NO_LEASE
  }

  /** An exchange has failed, and it is not known what the store has booked. */
  markUnsettled(): void {
    // Of two such leases the older one is given up.
    if (this.lease.left > 0) this.unsettled = this.lease
    this.lease = NO_LEASE
  }

  /** When a lease requested at `sentAt` ends here: always before it ends in the store. */
  static endOf(life: Millis, sentAt: number): number {
    return sentAt + life * (1 - DRIFT) - CLOCK_TOLERANCE
  }

  /** A lower bound of the store's time. */
  static storeTime({ storeLead }: Lease, now: number): Millis {
    return Math.floor(now + storeLead)
  }
}

function canSpend({ end, contact }: Lease, now: number): boolean {
  return now < end && now < contact.until
}

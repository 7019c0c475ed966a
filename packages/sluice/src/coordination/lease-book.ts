// The leases of a process: takes units from the store, reports what was spent, and gives back what is not needed.
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import { lifeWithin } from '../stores/holds/held-count.ts'
import type {
  Exchanged,
  ExchangeRequest,
  HoldStore,
  Settlement,
} from '../stores/holds/hold-store.ts'
import type { Check } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import { Counts } from './counts.ts'
import { hasSameLimit } from './leasable.ts'
import { LeasedCount } from './leased-count.ts'
import { LeaseStats } from './lease-stats.ts'
import {
  LEASE_LIFE,
  MAX_COUNTS,
  type CoordinationEvent,
  type LeaseEnvironment,
  type LeaseOptions,
} from './options.ts'
import { LongLives, returnsWithin } from './long-lives.ts'
import { RestQueue } from './rest-queue.ts'
import { SeenKeys } from './seen-keys.ts'
import { StoreContact } from './store-contact.ts'
import { StoreTime } from './store-time.ts'

/** Under `auto`, units per horizon from which a count is leased. */
const HOT_UNITS = 16
/** The fewest units that are leased: a smaller lease costs the store more than it saves. */
const MIN_LEASE = 4
/** The fewest and the most units leased of a count with few requests, while half of the limit is free. */
const MIN_SLOW_LEASE = 2
const MAX_SLOW_LEASE = 16
/** Horizons to lease for at most: three of the four that a life has. */
const MAX_AHEAD = 3
/**
 * A lease is small if this many of its size fit into the burst. While half of the limit is free, and if the units come back
 * with time within a life, a small lease lasts most of a life and lapses at its end: a call to give the units back would
 * cost more than they are worth.
 */
const SMALL_LEASES_PER_BURST = 64
/** Milliseconds without leasing after the store had almost nothing to lease. */
const SCARCE_PAUSE: Millis = 50
/** Sweeps without demand after which units are given back, and after which the count is forgotten. */
const IDLE_SWEEPS = 2
const FORGOTTEN_SWEEPS = 8

/** Long leases renewed in one call at most. */
const MAX_RENEWED = 32

const NOTHING: Exchanged = { settled: [], verdicts: [] }
/** One shared empty list, never changed. */
const NONE: never[] = []

/** The counts of which this process leases units. At most one exchange at a time concerns a lease. */
export class LeaseBook {
  readonly counts: Counts<LeasedCount>
  private readonly store: HoldStore
  /** How long units are leased. */
  readonly life: Millis
  private readonly longLives: LongLives
  private readonly horizon: Millis
  private readonly sweepEvery: Millis
  private readonly environment: LeaseEnvironment
  private readonly onEvent: (event: CoordinationEvent) => void
  private readonly storeTime = new StoreTime()
  private readonly contact = new StoreContact()
  private readonly seenKeys: SeenKeys
  /** The counts that each sweep visits, those whose long lease is renewed later (two queues), and those that wait for its end. */
  private readonly swept = new Set<LeasedCount>()
  private readonly resting = new RestQueue<LeasedCount>()
  private readonly restingLongest = new RestQueue<LeasedCount>()
  private readonly ending = new RestQueue<LeasedCount>()
  private readonly maxCounts: number
  private readonly stats: LeaseStats
  /** Milliseconds from an exchange to its answer, lately. */
  private roundTrip = 0
  private readonly name: string
  private ids = 0
  private timer: unknown
  private isClosed = false

  constructor(store: HoldStore, options: LeaseOptions, environment: LeaseEnvironment) {
    const { life = LEASE_LIFE, maxCounts = MAX_COUNTS, onEvent = () => {} } = options
    this.store = store
    this.life = life
    this.horizon = life / 4
    this.longLives = new LongLives(life, this.horizon)
    this.sweepEvery = Math.ceil(life / 16)
    this.environment = environment
    this.onEvent = onEvent
    this.counts = new Counts(maxCounts)
    this.maxCounts = maxCounts
    this.seenKeys = new SeenKeys(this.longLives.longest / 2)
    this.stats = options.stats ?? new LeaseStats()
    this.stats.watch(() => this.unitsOut())
    const { random } = environment
    this.name = `${Math.floor(random() * 2 ** 48).toString(36)}.`
  }

  /** Gives back all leased units. Nothing is leased afterwards. */
  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    if (this.timer !== undefined) this.environment.timers.stop(this.timer)
    const now = this.environment.clock.now()
    await Promise.all([...this.counts].map((count) => this.giveBack(count, now)))
    this.counts.clear()
    this.swept.clear()
  }

  /** The longest that any process has leased units of a limit for. */
  longestOf(limit: Limit): Millis {
    return this.contact.isKnown ? this.longLives.longestOf(limit) : this.life
  }

  /** Books the leases of some counts, takes the checks, and leases more for those counts: one call. */
  exchange(
    counts: readonly LeasedCount[],
    checks: readonly Check[],
    now: number,
  ): Promise<Exchanged> {
    const prepared = this.prepare(counts, checks, now)
    const { settlements } = prepared
    if (settlements.length + prepared.checks.length === 0) return Promise.resolve(NOTHING)
    const done = this.send(settlements, prepared.checks).then(
      (exchanged) => {
        this.finish(prepared, exchanged, now, this.environment.clock.now())
        return exchanged
      },
      (error: unknown) => {
        abandonExchange(prepared)
        throw error
      },
    )
    for (const count of counts) count.pending = done
    return done
  }

  /** Several exchanges with one check each, sent together: each by itself, with one promise for all. */
  exchangeEach(
    exchanges: readonly { readonly counts: readonly LeasedCount[]; readonly check: Check }[],
    now: number,
  ): Promise<readonly (Verdict | Error)[]> {
    const all = exchanges.map(({ counts, check }) => this.prepare(counts, [check], now))
    return this.sendPrepared(all, now).then((answers) =>
      answers.map((answer) => (answer instanceof Error ? answer : answer.verdicts[0]!)),
    )
  }

  private sendPrepared(
    all: readonly PreparedExchange[],
    now: number,
  ): Promise<readonly (Exchanged | Error)[]> {
    const done = this.sendEach(all).then(
      (answers) => {
        const later = this.environment.clock.now()
        for (let i = 0; i < all.length; i++) {
          const answer = answers[i]!
          if (answer instanceof Error) abandonExchange(all[i]!)
          else this.finish(all[i]!, answer, now, later)
        }
        return answers
      },
      (error: unknown) => {
        for (const prepared of all) abandonExchange(prepared)
        throw error
      },
    )
    for (const { counts } of all) for (const count of counts) count.pending = done
    return done
  }

  private prepare(
    counts: readonly LeasedCount[],
    checks: readonly Check[],
    now: number,
    isRenewal: boolean = false,
  ): PreparedExchange {
    let [settlements, settlingCounts, leaseRequests]: [
      Settlement[],
      LeasedCount[],
      LeaseRequest[],
    ] = [NONE, NONE, NONE]
    for (const count of counts) {
      count.dropLostLease()
      // The key is used more often now: a shorter lease replaces its long one.
      const { longLife, left } = count.lease
      const longUnits = this.longLeaseUnits(count, now)
      const isReplaced = longLife > 0 && longLife > this.lifeOf(count, longUnits)
      // A lease that holds more than its next life needs is given back at its renewal, too.
      const isTooMuch = isRenewal && left >= longUnits
      const settlement = this.report(count, now, isReplaced || isTooMuch ? 0 : undefined)
      if (settlement !== undefined) {
        settlements = [...settlements, settlement]
        settlingCounts = [...settlingCounts, count]
      }
      const request = this.leaseRequestFor(count, now, isRenewal)
      if (request !== undefined) leaseRequests = [...leaseRequests, request]
    }
    const all =
      leaseRequests.length === 0 ? checks : [...checks, ...leaseRequests.map(({ check }) => check)]
    return {
      counts,
      settlements,
      settlingCounts,
      leaseRequests,
      checks: all,
      ownChecks: checks.length,
    }
  }

  /** Takes over the answer to an exchange that was sent at `sentAt`. */
  private finish(
    { counts, settlingCounts, leaseRequests, ownChecks }: PreparedExchange,
    { settled, verdicts, epoch }: Exchanged,
    sentAt: number,
    now: number,
  ): void {
    this.contact.noteAnswer(epoch, LeasedCount.endOf(this.life, sentAt))
    this.noteRoundTrip(now - sentAt)
    for (let i = 0; i < settlingCounts.length; i++)
      if (settled[i]!.status === 'unknown') this.noteLost(settlingCounts[i]!)
    for (let i = 0; i < leaseRequests.length; i++)
      this.noteGrant(leaseRequests[i]!, verdicts[ownChecks + i]!, epoch !== undefined, sentAt, now)
    const [first] = verdicts
    if (first !== undefined) this.storeTime.learn(first.at, sentAt)
    for (const count of counts) {
      count.pending = null
      if (count.isResting && !mayRest(count, now)) this.sweepAgain(count)
    }
  }

  private sweepAgain(count: LeasedCount): void {
    count.isResting = false
    this.swept.add(count)
  }

  /** What to report of a lease, with its units counted. */
  private report(count: LeasedCount, now: number, keep?: number): Settlement | undefined {
    const { stats } = this
    const { left, spent, end } = count.lease
    const settlement = count.report(now, keep)
    if (now >= end) {
      stats.spent += spent
      stats.expired += left
    } else if (settlement !== undefined) {
      stats.spent += spent
      stats.returned += left - count.lease.left
    }
    return settlement
  }

  /** The units that are leased now, and how many counts they belong to. */
  private unitsOut(): { readonly out: number; readonly counts: number } {
    const now = this.environment.clock.now()
    let out = 0
    let counts = 0
    for (const count of this.counts) {
      const left = count.leftAt(now)
      out += left
      if (left > 0) counts += 1
    }
    return { out, counts }
  }

  private async send(
    settlements: readonly Settlement[],
    checks: readonly Check[],
  ): Promise<Exchanged> {
    if (this.store.exchangeEach === undefined) return this.store.exchange(settlements, checks)
    const [answer] = await this.store.exchangeEach([{ settlements, checks }])
    if (answer instanceof Error) throw answer
    return answer!
  }

  private sendEach(requests: readonly ExchangeRequest[]): Promise<readonly (Exchanged | Error)[]> {
    if (this.store.exchangeEach !== undefined) return this.store.exchangeEach(requests)
    const each = requests.map(({ settlements, checks }) =>
      this.send(settlements, checks).catch((error: unknown) => error as Error),
    )
    return Promise.all(each)
  }

  /** Units to lease for a long life; 0 when they would not be few. */
  private longLeaseUnits(count: LeasedCount, now: number): number {
    return this.contact.isKnown ? this.longLives.unitsFor(count, now) : 0
  }

  private lifeOf({ limit }: LeasedCount, longUnits: number): Millis {
    return longUnits === 0 ? this.life : this.longLives.lifeOf(longUnits, limit)
  }

  /** What to lease of a count: a few units for a long life, or the units that one horizon needs. */
  private leaseRequestFor(
    count: LeasedCount,
    now: number,
    isRenewal: boolean,
  ): LeaseRequest | undefined {
    const longUnits = this.longLeaseUnits(count, now)
    if (longUnits > 0) {
      const more = longUnits - count.lease.left
      // What is left would last for long.
      if (this.isClosed || (2 * more < longUnits && !isRenewal)) return undefined
      return this.makeLeaseRequest(count, more, this.lifeOf(count, longUnits))
    }
    const { limit, lease } = count
    const expected = count.expected(now)
    const slow = count.isPlentiful && !count.isAuto ? count.slowDemand(this.life) : 0
    const forLife = Math.min(MAX_SLOW_LEASE, Math.floor(slow))
    // Where units must not lapse, giving them back would cost more calls than leasing them saves.
    const slowUnits = returnsWithin(this.life, forLife, limit) ? forLife : 0
    const ahead = this.isSmallLease(count, expected * MAX_AHEAD) ? MAX_AHEAD : this.horizonsAhead
    const wanted = Math.max(Math.ceil(expected * ahead), slowUnits)
    const more = Math.min(wanted - lease.left, limit.burst)
    const lasts = this.storeTime.lifeWithin(limit, this.life, now)
    if (
      more < (slowUnits > 0 ? MIN_SLOW_LEASE : MIN_LEASE) ||
      lasts < this.sweepEvery ||
      this.isClosed
    )
      return undefined
    if (count.isAuto && expected < HOT_UNITS) return undefined
    return this.makeLeaseRequest(count, more, 0)
  }

  private makeLeaseRequest(count: LeasedCount, more: number, longLife: Millis): LeaseRequest {
    const { space, key, limit, slowestQuota, lease } = count
    const isNew = lease.id === '' || longLife < lease.longLife
    const id = isNew ? this.name + String(this.ids++) : lease.id
    const hold = { id, life: longLife || this.life, onEnd: 'spent', fair: true } as const
    const check: Check = {
      space,
      key,
      limit,
      slowestQuota,
      cost: more,
      shadow: true,
      holds: true,
      leaseLife: this.life,
      hold,
    }
    return { count, id, check, longLife }
  }

  private noteGrant(
    { count, id, check, longLife }: LeaseRequest,
    verdict: Verdict,
    /** Whether the answer reports a loss of the record; without that, no lease lasts longer than one life. */
    hasContact: boolean,
    sentAt: number,
    now: number,
  ): void {
    const units = verdict.held ?? 0
    count.learn(verdict)
    if (units > 0) {
      const meanwhile = (count.expected(now) / this.horizon) * 2 * this.roundTrip
      const long = hasContact ? longLife : 0
      const life = lifeWithin(count.limit, long || this.life, verdict.at)
      const contact = long > 0 ? this.contact.current : undefined
      count.grant(id, units, life, verdict.at, sentAt, now, meanwhile, long, contact)
      this.stats.grants += 1
      this.stats.granted += units
    }
    count.isScarce = units < Math.min(check.cost, MIN_LEASE)
    if (count.isScarce) count.noRefillUntil = now + SCARCE_PAUSE
    if (count.isScarce) this.noteSwitch(count, 'strict', 'near-limit')
    else this.noteSwitch(count, 'leasing', 'demand')
  }

  /** Rises quickly and falls slowly, so that an occasionally slow store is still called early enough. */
  private noteRoundTrip(took: number): void {
    const change = took - this.roundTrip
    this.roundTrip += change > 0 ? change / 2 : change / 16
  }

  /** How many horizons to lease for: more when a call takes so long that the units would not last until its answer. */
  private get horizonsAhead(): number {
    return Math.min(MAX_AHEAD, Math.max(1, (4 * this.roundTrip) / this.horizon))
  }

  private noteLost(count: LeasedCount): void {
    count.dropLeases()
    this.stats.lost += 1
    this.noteSwitch(count, 'strict', 'lost')
  }

  private noteSwitch(
    count: LeasedCount,
    type: CoordinationEvent['type'],
    reason: CoordinationEvent['reason'],
  ): void {
    const isLeasing = type === 'leasing'
    if (count.isLeasing === isLeasing) return
    count.isLeasing = isLeasing
    this.stats.switches[isLeasing ? 'leasing' : 'strict'] += 1
    const { space, key } = count
    this.onEvent({ type, space, key, reason })
  }

  /** Leases more in the background, before the lease runs out. */
  refill(count: LeasedCount, now: number): void {
    if (count.pending !== null || now < count.noRefillUntil || this.isClosed) return
    count.noteMiss(0, now)
    const exchanged = this.exchange([count], [], now)
    // Nothing was needed, or, below, nothing can be had: the next request goes to the store and reports the failure.
    if (count.pending === null) count.noRefillUntil = now + SCARCE_PAUSE
    exchanged.catch(() => {
      count.noRefillUntil = now + SCARCE_PAUSE
    })
  }

  /**
   * Renews long leases that are about to end and were reused, so that no request waits for that. One call
   * after the other, so that requests do not wait for many of them.
   */
  private async renew(counts: readonly LeasedCount[]): Promise<void> {
    for (let i = 0; i < counts.length && !this.isClosed; i += MAX_RENEWED) {
      const now = this.environment.clock.now()
      const group = counts.slice(i, i + MAX_RENEWED).filter((count) => this.isRenewable(count, now))
      if (group.length === 0) continue
      const all = group.map((count) => this.prepare([count], NONE, now, true))
      try {
        await this.sendPrepared(all, now)
      } catch {
        // The next requests ask the store, and report the failure.
      }
      for (const count of group) if (count.isResting) this.sweepAgain(count)
    }
  }

  private isRenewable(count: LeasedCount, now: number): boolean {
    if (!count.mayExchange(now) || !mayRest(count, now) || !count.isReused) return false
    count.noteMiss(0, now)
    return this.longLeaseUnits(count, now) > 0
  }

  /** The count of a leasable check; undefined for the first request of a key in a while, or if there is no room for another count. */
  warmCountFor(check: Check, now: number): LeasedCount | undefined {
    if (this.counts.find(check) !== undefined) return this.countFor(check, now)
    const seenAt = this.seenKeys.note(check.key, now)
    return seenAt === undefined ? undefined : this.countFor(check, now, seenAt)
  }

  /** The count of a leasable check; undefined when there is no room for another one. */
  countFor(check: Check, now: number, seenAt?: number): LeasedCount | undefined {
    if (this.isClosed) return undefined
    const known = this.counts.find(check)
    if (known !== undefined && hasSameLimit(known, check.limit)) return known
    // Under another limit than before: what is leased under the old one goes back.
    if (known !== undefined) {
      void this.giveBack(known, now)
      known.isResting = false
      this.swept.delete(known)
    }
    const isAuto = check.coordination === 'auto'
    // The first answer says whether half of the limit is free. Until then the store grants no more than a fair part.
    const { isKnown } = this.contact
    const count = new LeasedCount(check, isAuto, this.horizon, now, isKnown, seenAt)
    if (this.counts.add(count) === undefined) return undefined
    this.swept.add(count)
    if (this.timer === undefined) this.startSweeping()
    return count
  }

  private startSweeping(): void {
    const { timers } = this.environment
    const sweep = (): void => {
      this.timer = undefined
      this.sweep()
      if (!this.isClosed && this.counts.size > 0) this.startSweeping()
    }
    this.timer = timers.start(sweep, this.sweepEvery)
  }

  /** Gives back what is not needed: all of it after idleness or near its end, and what is far above demand. */
  private sweep(): void {
    const now = this.environment.clock.now()
    const ending: LeasedCount[] = []
    for (const queue of [this.resting, this.restingLongest, this.ending])
      for (let count = queue.next(now); count !== undefined; count = queue.next(now)) {
        if (!count.isResting || count.restsUntil > now) continue
        this.sweepAgain(count)
        if (this.renewalOf(count) <= now) ending.push(count)
      }
    if (ending.length > 0) void this.renew(ending)
    for (const count of this.swept) {
      if (count.pending !== null) continue
      if (mayRest(count, now)) {
        this.rest(count, now)
        continue
      }
      count.idleSweeps = count.isWanted ? 0 : count.idleSweeps + 1
      const { lease } = count
      const expected = count.expected(now)
      const isEnding = lease.end - now < 2 * this.sweepEvery
      if (!this.isSmallLease(count, lease.left)) {
        if (count.idleSweeps >= IDLE_SWEEPS || isEnding) void this.giveBack(count, now)
        else if (lease.left > 4 * expected + 1)
          void this.giveBack(count, now, nextPowerOf2(expected))
      }
      if (count.idleSweeps >= FORGOTTEN_SWEEPS && count.leftAt(now) === 0) {
        this.counts.delete(count)
        this.swept.delete(count)
      }
    }
  }

  /** Whether a lease of so many units is small for its limit, so that it may lapse. */
  private isSmallLease({ isPlentiful, limit }: LeasedCount, units: number): boolean {
    return (
      isPlentiful &&
      units * SMALL_LEASES_PER_BURST <= limit.burst &&
      returnsWithin(this.life, units, limit)
    )
  }

  /** Leaves a count out of the sweeps until its lease is to be renewed, or after its end. */
  private rest(count: LeasedCount, now: number): void {
    this.swept.delete(count)
    count.isResting = true
    const { end, longLife } = count.lease
    const renewal = this.renewalOf(count)
    const isLongest = longLife === this.longLives.longest
    count.restsUntil = now < renewal ? renewal : end + this.remembered
    if (now >= renewal) this.ending.push(count, count.restsUntil)
    else (isLongest ? this.restingLongest : this.resting).push(count, count.restsUntil)
  }

  /** When a lease is to be renewed. */
  private renewalOf({ lease }: LeasedCount): number {
    return lease.end - this.horizon
  }

  /** Milliseconds for which a count is kept after its long lease has ended: the next request for it leases again. */
  private get remembered(): Millis {
    return 2 * this.counts.size < this.maxCounts ? this.longLives.longest / 2 : 0
  }

  /** Hands back what is above `keep`. What fails stays out until its end. */
  private async giveBack(count: LeasedCount, now: number, keep = 0): Promise<void> {
    while (count.pending !== null) {
      await count.pending.catch(() => {})
      now = this.environment.clock.now()
    }
    const settlement = this.report(count, now, keep)
    if (settlement === undefined) return
    const answer = this.send([settlement], [])
    const done = answer.then(
      ({ settled: [first] }) => {
        if (first?.status === 'unknown') this.noteLost(count)
        else if (keep === 0) this.noteSwitch(count, 'strict', 'demand')
        count.pending = null
      },
      () => {
        count.markUnsettled()
        count.pending = null
      },
    )
    count.pending = done
    await done
  }
}

/** Whether the count needs no sweep until its long lease ends. */
function mayRest({ isPlentiful, lease }: LeasedCount, now: number): boolean {
  return isPlentiful && lease.longLife > 0 && now < lease.end
}

/** The next power of 2: the script describes settlements that keep equally much once. */
function nextPowerOf2(units: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, units)))
}

/** The settlements and checks of one exchange, and what its answer is applied to. */
interface PreparedExchange extends ExchangeRequest {
  readonly counts: readonly LeasedCount[]
  /** The counts of the settlements. */
  readonly settlingCounts: readonly LeasedCount[]
  /** One for each check that follows the caller's own. */
  readonly leaseRequests: readonly LeaseRequest[]
  /** How many of the checks are the caller's own. */
  readonly ownChecks: number
}

/** After a failed exchange: it is not known what the store has booked. */
function abandonExchange({ counts }: PreparedExchange): void {
  for (const count of counts) {
    count.markUnsettled()
    count.pending = null
  }
}

/** Units to lease. */
interface LeaseRequest {
  readonly count: LeasedCount
  readonly id: string
  readonly check: Check
  /** 0: no longer than any lease. */
  readonly longLife: Millis
}

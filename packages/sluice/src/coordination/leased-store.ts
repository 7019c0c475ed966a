// A store around a store: takes units in advance and spends them in this process, without a round trip.
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Exchanged, HoldStore, Settlement } from '../stores/holds/hold-store.ts'
import {
  AS_IT_IS,
  takeThrough,
  type MappedTakes,
  type TakeReceiver,
} from '../stores/mapped-takes.ts'
import {
  isPromise,
  type AsyncStore,
  type Check,
  type LeasePath,
  type MaybePromise,
} from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { Counts } from './counts.ts'
import { CombinedTakes, type WantedPart } from './combined-takes.ts'
import { heldCheck, isCoordinated, isLeasable, hasSameLimit } from './leasable.ts'
import { LeaseBook } from './lease-book.ts'
import type { Lease } from './lease.ts'
import { LeaseVerdict } from './lease-verdict.ts'
import { LeasedCount } from './leased-count.ts'
import {
  checkLeaseOptions,
  systemEnvironment,
  type LeaseEnvironment,
  type LeaseOptions,
} from './options.ts'

/**
 * Spends leased units for checks whose `coordination` is `leased`, or `auto` while their key is hot. Everything else
 * goes to the store. Over all processes, the counts admit what they admit without leases, and never more.
 *
 * @example
 * ```ts
 * const limiter = createLimiter({ limit: '1000/s', store: withLeases(redisStore(client)) })
 * ```
 */
export function withLeases(
  store: HoldStore,
  options: LeaseOptions = {},
  /** For tests and simulations. Default: the runtime's own. */
  environment: Partial<LeaseEnvironment> = {},
): LeasedStore {
  checkLeaseOptions(options)
  return new LeasedStore(store, options, { ...systemEnvironment(), ...environment })
}

/**
 * See {@link withLeases}.
 *
 * @example
 * ```ts
 * const store: LeasedStore = withLeases(redisStore(client))
 * ```
 */
export class LeasedStore implements AsyncStore, MappedTakes {
  readonly coordinates = true
  private readonly store: HoldStore
  private readonly clock: LeaseEnvironment['clock']
  private readonly book: LeaseBook
  private readonly counts: Counts<LeasedCount>
  private readonly combinedTakes: CombinedTakes<LeasedCount>

  constructor(store: HoldStore, options: LeaseOptions, environment: LeaseEnvironment) {
    this.store = store
    this.clock = environment.clock
    this.book = new LeaseBook(store, options, environment)
    this.counts = this.book.counts
    this.combinedTakes = new CombinedTakes((parts) => this.takeParts(parts), environment.timers)
  }

  /** The verdicts if leases cover every check; else undefined, with nothing done. */
  takeNow(checks: readonly Check[]): readonly Verdict[] | undefined {
    if (checks.length !== 1) return this.takeAllNow(checks)
    const verdict = this.takeOneNow(checks[0]!)
    return verdict === undefined ? undefined : [verdict]
  }

  leasePath(space: string, limit: Limit): LeasePath {
    return { takeNow: (key) => this.spendNow(this.counts.get(space, key), limit, 1) }
  }

  takeWith<T>(
    checks: readonly Check[],
    receiver: TakeReceiver<T>,
  ): readonly Verdict[] | Promise<T> {
    if (checks.length === 1 && isCoordinated(checks[0]!)) return this.takeOne(checks, receiver)
    return takeThrough(this, checks, receiver)
  }

  take(checks: readonly Check[]): MaybePromise<readonly Verdict[]> {
    if (checks.length === 1 && isCoordinated(checks[0]!)) return this.takeOne(checks, AS_IT_IS)
    if (!checks.some(isCoordinated)) return this.store.take(checks)
    return this.takeAllNow(checks) ?? this.takeOrAsk(checks)
  }

  /** For requests with budgets or slots: every check asks the store. */
  async exchange(settlements: readonly Settlement[], checks: readonly Check[]): Promise<Exchanged> {
    const sent = checks.map((check) => heldCheck(check, this.book.life))
    return this.store.exchange(settlements, sent)
  }

  /** What the store says, or more if a lease here covers the cost. */
  async peek(checks: readonly Check[]): Promise<readonly Verdict[]> {
    const verdicts = await this.store.peek(checks.map((check) => heldCheck(check)))
    const now = this.clock.now()
    return checks.map((check, i) => {
      const count = this.counts.find(check)
      const left = count !== undefined && hasSameLimit(count, check.limit) ? count.leftAt(now) : 0
      const verdict = verdicts[i]!
      if (left <= verdict.remaining) return verdict
      const allowed = verdict.allowed || check.cost <= left
      const { retryAfter, resetAfter, availableAfter, delay, at, source } = verdict
      const waits = { retryAfter: allowed ? 0 : retryAfter, resetAfter, availableAfter }
      return { allowed, remaining: left, ...waits, delay, at, source }
    })
  }

  /** Units that were taken last go back into the lease, if it still lasts; others to the store. */
  async refund(checks: readonly Check[]): Promise<void> {
    const now = this.clock.now()
    const others = checks.filter(
      (check) => this.counts.find(check)?.refund(check.cost, check.takenAt, now) !== true,
    )
    if (others.length > 0) await this.store.refund(others.map((check) => heldCheck(check)))
  }

  /** Forgets what is spent. Leases of this process end here; those of others last to their end. */
  async reset(checks: readonly Check[]): Promise<void> {
    const lose = (): void => {
      for (const check of checks) this.counts.find(check)?.dropLeases()
    }
    lose()
    await this.store.reset(checks.map((check) => heldCheck(check)))
    // What was granted meanwhile is not known to the store any more, or is given up with the rest.
    lose()
  }

  /** Gives back every unit that is out, then closes the store. */
  async close(): Promise<void> {
    await this.book.close()
    await this.store.close()
  }

  private takeOneNow(check: Check): Verdict | undefined {
    return this.spendNow(this.counts.find(check), check.limit, check.cost)
  }

  private spendNow(
    count: LeasedCount | undefined,
    limit: Limit,
    cost: number,
  ): Verdict | undefined {
    if (count === undefined || !hasSameLimit(count, limit) || cost === 0) return undefined
    const now = this.clock.now()
    const lease = count.spend(cost, now)
    if (lease === undefined) return undefined
    if (count.needsRefill) this.book.refill(count, now)
    return this.verdictOf(count, lease, now)
  }

  private takeAllNow(checks: readonly Check[]): readonly Verdict[] | undefined {
    const verdicts = new Array<Verdict>(checks.length)
    const leases = new Array<Lease>(checks.length)
    const { counts } = this
    const now = this.clock.now()
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i]!
      const count = counts.find(check)
      const lease =
        count === undefined || !hasSameLimit(count, check.limit) || check.cost === 0
          ? undefined
          : count.spend(check.cost, now)
      if (lease === undefined) {
        for (let j = 0; j < i; j++) {
          const spent = leases[j]!
          counts.find(checks[j]!)!.unspend(spent, spent.reports, checks[j]!.cost, now)
        }
        return undefined
      }
      leases[i] = lease
      verdicts[i] = this.verdictOf(count!, lease, now)
    }
    for (const check of checks) {
      const count = counts.find(check)!
      if (count.needsRefill) this.book.refill(count, now)
    }
    return verdicts
  }

  /**
   * Asks the store for what no lease covers, and for more units in advance. What leases cover is spent first, and goes
   * back to them if the store refuses the rest. A request never waits for an exchange of another one and then for its
   * own: it would be as slow as two calls.
   */
  private takeOrAsk(checks: readonly Check[]): MaybePromise<readonly Verdict[]> {
    const now = this.clock.now()
    const asked: AskedCheck[] = []
    const local: LocalCheck[] = []
    for (const [index, check] of checks.entries()) {
      const count = isLeasable(check) ? this.book.countFor(check, now) : undefined
      const lease = count?.spend(check.cost, now)
      if (lease === undefined) asked.push({ index, check, count })
      else
        local.push({
          index,
          check,
          count: count!,
          lease,
          reports: lease.reports,
          takenAt: LeasedCount.storeTime(lease, now),
        })
    }
    if (asked.length > 0) return this.ask(checks, asked, local, now)
    return local.map(({ count, lease }) => this.verdictOf(count, lease, now))
  }

  /** Most requests ask for one unit of one count: those of one turn that no lease covers ask together. */
  private takeOne<T>(
    checks: readonly Check[],
    receiver: TakeReceiver<T>,
  ): readonly Verdict[] | Promise<T> {
    const check = checks[0]!
    const verdict = this.takeOneNow(check)
    if (verdict !== undefined) return [verdict]
    if (check.cost !== 1 || !isLeasable(check)) {
      const taken = this.takeOrAsk(checks)
      if (!isPromise(taken)) return taken
      return taken.then(
        (verdicts) => receiver.passed(verdicts),
        (error: unknown) => receiver.failed(error),
      )
    }
    const now = this.clock.now()
    const count = this.book.warmCountFor(check, now)
    if (count === undefined) return this.combinedTakes.takeAlone(check, receiver)
    count.noteMiss(1, now)
    return this.combinedTakes.take(count, check, receiver)
  }

  private takeParts(
    parts: readonly WantedPart<LeasedCount>[],
  ): Promise<readonly (Verdict | Error)[]> {
    const now = this.clock.now()
    const leaseLife = this.book.life
    const exchanges = parts.map(({ count, check: { space, key, limit, slowestQuota }, units }) => ({
      counts: count?.mayExchange(now) === true ? [count] : NONE,
      check: partOf(space, key, limit, slowestQuota, units, leaseLife),
    }))
    return this.book.exchangeEach(exchanges, now).then((answers) => {
      for (const [i, answer] of answers.entries())
        if (!(answer instanceof Error)) parts[i]!.count?.learn(answer)
      return answers
    })
  }

  private async ask(
    checks: readonly Check[],
    asked: readonly AskedCheck[],
    local: readonly LocalCheck[],
    now: number,
  ): Promise<readonly Verdict[]> {
    for (const { check, count } of asked) count?.noteMiss(check.cost, now)
    // At most one exchange at a time concerns a lease: another one that is under way may not be answered in order.
    const free = new Set(
      asked.flatMap(({ count }) => (count?.mayExchange(now) === true ? [count] : [])),
    )
    const answer = this.book.exchange(
      [...free],
      asked.map(({ check }) => heldCheck(check, this.book.life)),
      now,
    )
    let exchanged: Exchanged
    try {
      exchanged = await answer
    } catch (error) {
      this.putBack(local)
      throw error
    }
    const verdicts = new Array<Verdict>(checks.length)
    let isAllowed = true
    for (const [i, { index, check }] of asked.entries()) {
      const verdict = exchanged.verdicts[i]!
      verdicts[index] = verdict
      if (!verdict.allowed && check.shadow !== true) isAllowed = false
    }
    const later = this.clock.now()
    if (!isAllowed) this.putBack(local)
    for (const { index, count, lease } of local)
      verdicts[index] = this.verdictOf(count, lease, later)
    return verdicts
  }

  private verdictOf(count: LeasedCount, lease: Lease, now: number): Verdict {
    const at = LeasedCount.storeTime(lease, now)
    return new LeaseVerdict(count.limit, count.leftAt(now), at, this.book.longestOf(count.limit))
  }

  private putBack(local: readonly LocalCheck[]): void {
    const now = this.clock.now()
    const rest = local.filter(
      ({ count, lease, reports, check }) => !count.unspend(lease, reports, check.cost, now),
    )
    if (rest.length === 0) return
    // Reported as spent meanwhile. If the refund fails too, the units stay charged until they expire.
    const checks = rest.map(({ check, takenAt }) => ({ ...heldCheck(check), takenAt }))
    Promise.resolve(this.store.refund(checks)).catch(() => {})
  }
}

const NONE: readonly never[] = []

/** A check that takes what there is of some units. One literal, since many are made. */
function partOf(
  space: string,
  key: string,
  limit: Limit,
  slowestQuota: number | undefined,
  cost: number,
  leaseLife: Millis,
): Check {
  return {
    space,
    key,
    limit,
    slowestQuota,
    cost,
    leaseLife,
    holds: true,
    shadow: true,
    partial: true,
  }
}

/** A check that goes to the store. */
interface AskedCheck {
  readonly index: number
  readonly check: Check
  readonly count: LeasedCount | undefined
}

/** A check that a lease has covered. */
interface LocalCheck {
  readonly index: number
  readonly check: Check
  readonly count: LeasedCount
  readonly lease: Lease
  /** When it was spent: by the reports of the lease before, and the earliest that the store's time may have been. */
  readonly reports: number
  readonly takenAt: Millis
}

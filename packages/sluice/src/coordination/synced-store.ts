// A store around a store: each process decides by its own copy of a count, and the copies are added up in the store.
//
// A process may count by itself for half an interval after the call that brought the totals. So what it has not seen of
// another process was taken within one interval, and the fleet exceeds a limit by at most (N - 1) times what one process
// admits in one interval. The excess stays charged, as debt, so that it does not grow.
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Exchanged, HoldStore, Settlement } from '../stores/holds/hold-store.ts'
import {
  AS_IT_IS,
  mappedTakes,
  takeThrough,
  type MappedTakes,
  type TakeReceiver,
} from '../stores/mapped-takes.ts'
import type { AsyncStore, Check, LeasePath, MaybePromise } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import { Counts } from './counts.ts'
import { CombinedTakes, type WantedPart } from './combined-takes.ts'
import { isSynced, hasSameLimit } from './leasable.ts'
import { LeaseStats } from './lease-stats.ts'
import {
  checkSyncOptions,
  MAX_COUNTS,
  SYNC_INTERVAL,
  systemEnvironment,
  type CoordinationEvent,
  type LeaseEnvironment,
  type SyncOptions,
} from './options.ts'
import { SyncedCount, type Sent } from './synced-count.ts'

/** Shares of the interval: after VALID_SHARE a total is too old, after SYNC_SHARE the next one is requested. */
const VALID_SHARE = 0.5
const SYNC_SHARE = 0.35
/** The units of one interval are sent within so many intervals. */
const COUNTED_INTERVALS = 1 + VALID_SHARE
/** Syncs without demand after which a count is forgotten. */
const FORGOTTEN_SYNCS = 8
/** Counts in one call at most: the server answers no other client meanwhile. */
const MAX_COUNTS_PER_CALL = 64

/**
 * Decides checks whose `coordination` is `synced` in this process, and adds up what all processes took in the store.
 * Near its limit, a count is decided by the store.
 *
 * @example
 * ```ts
 * const store = withSync(redisStore(client), { interval: 100 })
 * ```
 */
export function withSync(
  store: AsyncStore & HoldStore,
  options: SyncOptions = {},
  /** For tests and simulations. Default: the runtime's own. */
  environment: Partial<LeaseEnvironment> = {},
): SyncedStore {
  checkSyncOptions(options)
  return new SyncedStore(store, options, { ...systemEnvironment(), ...environment })
}

/**
 * See {@link withSync}.
 *
 * @example
 * ```ts
 * const store: SyncedStore = withSync(redisStore(client))
 * ```
 */
export class SyncedStore implements AsyncStore, MappedTakes {
  readonly coordinates = true
  private readonly store: AsyncStore & HoldStore
  private readonly mapped: MappedTakes
  private readonly interval: Millis
  private readonly counts: Counts<SyncedCount>
  private readonly combinedTakes: CombinedTakes<SyncedCount>
  private readonly environment: LeaseEnvironment
  private readonly onEvent: (event: CoordinationEvent) => void
  private readonly stats: LeaseStats
  private readonly isSharded: boolean
  private calls = 0
  private timer: unknown
  private isClosed = false

  constructor(store: AsyncStore & HoldStore, options: SyncOptions, environment: LeaseEnvironment) {
    const { interval = SYNC_INTERVAL, maxCounts = MAX_COUNTS, onEvent = () => {} } = options
    this.store = store
    this.mapped = mappedTakes(store)
    this.interval = interval
    this.counts = new Counts(maxCounts)
    this.environment = environment
    this.onEvent = onEvent
    this.stats = options.stats ?? new LeaseStats()
    this.isSharded = options.isSharded ?? false
    this.combinedTakes = new CombinedTakes((parts) => this.takeParts(parts), environment.timers)
  }

  takeNow(checks: readonly Check[]): readonly Verdict[] | undefined {
    if (!checks.some(isSynced)) return this.store.takeNow?.(checks)
    if (!checks.every(isSynced)) return undefined
    return this.takeLocally(checks)
  }

  leasePath(space: string, limit: Limit): LeasePath | undefined {
    return this.store.leasePath?.(space, limit)
  }

  takeWith<T>(
    checks: readonly Check[],
    receiver: TakeReceiver<T>,
  ): readonly Verdict[] | Promise<T> {
    if (!checks.some(isSynced)) return this.mapped.takeWith(checks, receiver)
    return takeThrough(this, checks, receiver)
  }

  take(checks: readonly Check[]): MaybePromise<readonly Verdict[]> {
    if (!checks.some(isSynced)) return this.store.take(checks)
    const own = checks.filter(isSynced)
    const localVerdicts = this.takeLocally(own)
    if (localVerdicts === undefined) return this.ask(checks)
    if (own.length === checks.length) return localVerdicts
    return this.takeRest(checks, own, localVerdicts)
  }

  /** For requests with budgets or slots: every check asks the store. */
  async exchange(settlements: readonly Settlement[], checks: readonly Check[]): Promise<Exchanged> {
    return this.store.exchange(settlements, checks.map(withHoldingIfSynced))
  }

  async peek(checks: readonly Check[]): Promise<readonly Verdict[]> {
    return this.store.peek(checks.map(withHoldingIfSynced))
  }

  /** Units that were taken last and not sent yet are put back here; others are refunded in the store. */
  async refund(checks: readonly Check[]): Promise<void> {
    const now = this.environment.clock.now()
    const rest = checks.filter((check) => {
      const count = isSynced(check) ? this.counts.find(check) : undefined
      return count?.refund(check.cost, check.takenAt, now) !== true
    })
    if (rest.length > 0) await this.store.refund(rest.map(withHoldingIfSynced))
  }

  /** Forgets what is counted. What other processes have not sent yet is counted after it. */
  async reset(checks: readonly Check[]): Promise<void> {
    for (const check of checks) if (isSynced(check)) this.counts.find(check)?.forget()
    await this.store.reset(checks.map(withHoldingIfSynced))
  }

  /** Sends the units that the store has not booked yet, then closes it. */
  async close(): Promise<void> {
    if (!this.isClosed) {
      this.isClosed = true
      if (this.timer !== undefined) this.environment.timers.stop(this.timer)
      const withUnsent = [...this.counts].filter(({ unsent }) => unsent > 0)
      await Promise.all(
        this.grouped(withUnsent).map((group) => this.flush(group, []).catch(() => {})),
      )
    }
    await this.store.close()
  }

  /** All or none: the verdicts if every check can be decided here. */
  private takeLocally(checks: readonly Check[]): readonly Verdict[] | undefined {
    const now = this.environment.clock.now()
    const verdicts: Verdict[] = []
    for (const check of checks) {
      const count = this.countFor(check)
      const verdict = check.cost > 0 ? count?.take(check.cost, now) : undefined
      if (verdict === undefined) {
        for (let i = 0; i < verdicts.length; i++)
          this.counts.find(checks[i]!)!.putBack(checks[i]!.cost, now)
        return undefined
      }
      verdicts.push(verdict)
    }
    return verdicts
  }

  /** The store decides the checks that are not synced; what was taken here goes back if it refuses. */
  private async takeRest(
    checks: readonly Check[],
    own: readonly Check[],
    localVerdicts: readonly Verdict[],
  ): Promise<readonly Verdict[]> {
    const rest = checks.filter((check) => !isSynced(check))
    const undo = (): void => {
      const now = this.environment.clock.now()
      const sent = own
        .map((check, i) => ({ ...held(check), takenAt: localVerdicts[i]!.at }))
        .filter((check) => this.counts.find(check)?.putBack(check.cost, now) !== true)
      if (sent.length > 0) Promise.resolve(this.store.refund(sent)).catch(() => {})
    }
    let storeVerdicts: readonly Verdict[]
    try {
      storeVerdicts = await this.store.take(rest)
    } catch (error) {
      undo()
      throw error
    }
    if (rest.some(({ shadow }, i) => shadow !== true && !storeVerdicts[i]!.allowed)) undo()
    const [here, there] = [localVerdicts.values(), storeVerdicts.values()]
    return checks.map((check) => (isSynced(check) ? here : there).next().value!)
  }

  private async ask(checks: readonly Check[]): Promise<readonly Verdict[]> {
    const [first] = checks
    const singleCount = checks.length === 1 && first!.cost === 1 ? this.countFor(first!) : undefined
    if (singleCount !== undefined) return this.combinedTakes.take(singleCount, first!, AS_IT_IS)
    const counts = checks.flatMap((check) => (isSynced(check) ? (this.countFor(check) ?? []) : []))
    return this.flush([...new Set(counts)], checks.map(withHoldingIfSynced))
  }

  private takeParts(
    parts: readonly WantedPart<SyncedCount>[],
  ): Promise<readonly (Verdict | Error)[]> {
    const take = async ({ count, check, units }: WantedPart<SyncedCount>): Promise<Verdict> => {
      const part = { ...held(check), cost: units, shadow: true, partial: true }
      const [verdict] = await this.flush(count === null ? [] : [count], [part])
      return verdict!
    }
    return Promise.all(parts.map((part) => take(part).catch((error: unknown) => error as Error)))
  }

  /** Books what was taken here of some counts, then takes the checks, in one call. Resolves with the verdicts of the checks. */
  private async flush(
    counts: readonly SyncedCount[],
    checks: readonly Check[],
  ): Promise<readonly Verdict[]> {
    const { clock } = this.environment
    const { stats } = this
    const sentAt = clock.now()
    const asked = counts.map((count) =>
      checks.reduce((sum, check) => (isCheckOf(count, check) ? sum + check.cost : sum), 0),
    )
    const bookings = counts.map((count, i) => count.send(asked[i]!))
    const number = this.calls++
    const sent = bookings.map(({ cost }, i): Sent => ({ sent: cost, asked: asked[i]!, number }))
    if (counts.length > 0) stats.flushes += 1
    let verdicts: readonly Verdict[]
    try {
      ;({ verdicts } = await this.store.exchange([], [...bookings, ...checks]))
    } catch (error) {
      if (counts.length > 0) stats.failedFlushes += 1
      for (const [i, count] of counts.entries()) count.noteFailure(sent[i]!)
      throw error
    }
    const now = clock.now()
    const validUntil = sentAt + this.interval * VALID_SHARE
    const answers = verdicts.slice(counts.length)
    for (const [i, count] of counts.entries()) {
      const booked = verdicts[i]!
      const over = sent[i]!.sent - (booked.held ?? 0)
      stats.overshoot += over
      stats.maxOvershoot = Math.max(stats.maxOvershoot, over)
      // The checks run after the bookings, so the last verdict on the count includes all of them.
      const last = checks.findLastIndex((check) => isCheckOf(count, check))
      const granted = checks.reduce(
        (sum, check, j) => (isCheckOf(count, check) ? sum + grantedOf(check, answers[j]!) : sum),
        0,
      )
      count.learn(sent[i]!, answers[last] ?? booked, granted, sentAt, now, validUntil)
      const recent = count.countRecent(
        sent[i]!.sent + granted,
        sentAt,
        this.interval * COUNTED_INTERVALS,
      )
      stats.maxPerInterval = Math.max(stats.maxPerInterval, recent)
      this.noteSwitch(count, now)
    }
    return answers
  }

  private noteSwitch(count: SyncedCount, now: number): void {
    const isLocal = count.isLocalAt(now)
    if (count.isLocal === isLocal) return
    count.isLocal = isLocal
    this.stats.switches[isLocal ? 'synced' : 'strict'] += 1
    const { space, key } = count
    if (isLocal) this.onEvent({ type: 'synced', space, key, reason: 'demand' })
    else this.onEvent({ type: 'strict', space, key, reason: 'near-limit' })
  }

  private countFor(check: Check): SyncedCount | undefined {
    const known = this.counts.find(check)
    if (known !== undefined && hasSameLimit(known, check.limit)) return known
    if (this.isClosed) return undefined
    // The limit has changed: units taken under the old one are booked under it.
    if (known !== undefined && known.unsent > 0) void this.flush([known], []).catch(() => {})
    const count = this.counts.add(new SyncedCount(check))
    if (count !== undefined && this.timer === undefined) this.startSyncing()
    return count
  }

  private startSyncing(): void {
    const run = (): void => {
      this.timer = undefined
      this.syncAll()
      if (!this.isClosed && this.counts.size > 0) this.startSyncing()
    }
    this.timer = this.environment.timers.start(run, Math.ceil(this.interval * SYNC_SHARE))
  }

  private syncAll(): void {
    const due: SyncedCount[] = []
    for (const count of this.counts) {
      if (count.isSyncing) continue
      count.idleSyncs += 1
      if (count.idleSyncs > FORGOTTEN_SYNCS && count.unsent === 0) this.counts.delete(count)
      else if (count.unsent > 0 || count.idleSyncs === 1) due.push(count)
    }
    // After a failure the totals become too old, and the next request asks the store.
    for (const group of this.grouped(due)) void this.flush(group, []).catch(() => {})
  }

  /** In a cluster each count is a call of its own, which the store puts together by slot. */
  private grouped(counts: readonly SyncedCount[]): readonly (readonly SyncedCount[])[] {
    const size = this.isSharded ? 1 : MAX_COUNTS_PER_CALL
    const groups: SyncedCount[][] = []
    for (let i = 0; i < counts.length; i += size) groups.push(counts.slice(i, i + size))
    return groups
  }
}

/** Whether a check is about a count. */
function isCheckOf(count: SyncedCount, { space, key }: Check): boolean {
  return key === count.key && space === count.space
}

/** Units that the store granted. */
function grantedOf({ cost, partial }: Check, { allowed, held: withHolding = 0 }: Verdict): number {
  if (partial === true) return withHolding
  return allowed ? cost : 0
}

function held(check: Check): Check {
  return { ...check, holds: true }
}

function withHoldingIfSynced(check: Check): Check {
  return isSynced(check) ? held(check) : check
}

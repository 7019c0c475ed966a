// Counts in Redis or Valkey, shared by a fleet: one atomic round trip for everything.
import type { Verdict } from '../limit/verdict.ts'
import { CLOCK_FORM, OptionReader } from '../options/option-reader.ts'
import { AS_IT_IS, type MappedTakes, type TakeReceiver } from '../stores/mapped-takes.ts'
import type { MappedHolds, MappedSettlements } from '../stores/holds/mapped-holds.ts'
import { withRefusalCache } from '../stores/refusal-cache/refusal-cache.ts'
import type {
  Exchanged,
  ExchangeRequest,
  HoldStore,
  Settled,
  Settlement,
} from '../stores/holds/hold-store.ts'
import type { AsyncStore, Check, MaybePromise, RemoteStore, StoreEvent } from '../stores/store.ts'
import { preciseClock, type Clock, type Millis } from '../time/clock.ts'
import { Deadlines } from '../time/timers.ts'
import { takeInAllSlots, type Indexed } from './multi-slot-take.ts'
import { Batcher, callExpired } from './batcher.ts'
import { adapterOf, type RedisClient } from './client.ts'
import { NOT_OPEN, warnOfClient } from './client-warnings.ts'
import { connectionOf } from './connection.ts'
import { systemRedisEnvironment, type RedisEnvironment } from './environment.ts'
import { Eviction } from './eviction.ts'
import { chargesOf, longestResetOf, type Charge } from './charges.ts'
import { isPrefix, redisKeys } from './redis-key.ts'
import { groupBySlot, shardOfSlot, slotOf } from './slot.ts'
import { UnconfirmedRefunds } from './unconfirmed-refunds.ts'
import { warnOfLimits, warnOnConsole, type StoreWarning } from './warnings.ts'

/**
 * How the Redis store may differ from its defaults.
 *
 * @example
 * ```ts
 * redisStore(client, { prefix: 'shop', timeout: 50 })
 * ```
 */
export interface RedisStoreOptions {
  /** What every key begins with. Default `sl:`. */
  readonly prefix?: string
  /** Milliseconds after which a call is given up; it then does nothing on the server either. Default 100. */
  readonly timeout?: Millis
  /** Whether the client is a cluster client. Default: what the client's shape says. */
  readonly cluster?: boolean
  /**
   * Milliseconds for which a refusal is answered from the cache; refunds and resets of other processes are seen that much
   * later at most. 0: every request goes to the server. Default 250.
   */
  readonly holdRefusals?: Millis
  /** For tests: the time that the script sees instead of the server's. */
  readonly clock?: Clock
  /** Receives each warning once: of risky limits, clients and servers. Default: `console.warn`. */
  readonly onWarning?: (warning: StoreWarning) => void
}

const OPTIONS = ['prefix', 'timeout', 'cluster', 'holdRefusals', 'clock', 'onWarning']

/** A store in Redis or Valkey, which also keeps holds. */
export interface RedisStore extends RemoteStore, HoldStore {
  readonly sync?: false
  exchange(settlements: readonly Settlement[], checks: readonly Check[]): Promise<Exchanged>
  /** The same store with another one between its refusal cache and its counts. */
  inside(wrap: (counts: HoldStore) => AsyncStore & HoldStore): RemoteStore
}

/**
 * Counts in Redis or Valkey, by any client: ioredis, iovalkey, node-redis, valkey-glide; standalone, Sentinel
 * or Cluster; or over HTTP by `@upstash/redis`. The client stays yours: configure it without an offline queue, and close it yourself.
 *
 * In a cluster, checks whose keys share a slot are decided in one atomic call. Across slots, groups are taken
 * one after the other; when one refuses, what the earlier ones took is refunded. In between, other requests may see
 * the units as taken.
 *
 * @example
 * ```ts
 * const client = new Redis(ioredisOptions({ host: 'redis.internal' }))
 * const limiter = createLimiter({ limit: '100/min', store: redisStore(client) })
 * const { allowed } = await limiter.check('user:42')
 * ```
 */
export function redisStore(
  client: RedisClient,
  options: RedisStoreOptions = {},
  /** For simulations. Default: the runtime's own. */
  environment: RedisEnvironment = systemRedisEnvironment,
): RedisStore {
  const reader = new OptionReader('redisStore', options, OPTIONS)
  const { timers } = environment
  const { prefix = 'sl:' } = options
  if (!isPrefix(prefix))
    reader.wrong('prefix', prefix, 'a string without { and }, at most 32 bytes')
  const timeout = reader.millis('timeout', options.timeout, 100)
  const holdRefusals = reader.millis('holdRefusals', options.holdRefusals, 250, 0)
  const cluster = reader.flag('cluster', options.cluster, undefined)
  const clock = reader.callable('clock', options.clock, undefined, CLOCK_FORM)
  const onWarning = reader.callable('onWarning', options.onWarning, warnOnConsole)
  const adapter =
    adapterOf(client, cluster) ??
    reader.wrong(
      'client',
      client,
      'a client of ioredis, iovalkey, node-redis, valkey-glide or @upstash/redis',
    )
  warnOfClient(client, adapter, timeout, onWarning)
  const onNotOpen = (): void => onWarning(NOT_OPEN)
  const connection = connectionOf(client, adapter, timeout, environment, onNotOpen)
  const watchers = new Set<(event: StoreEvent) => void>()
  const onLate = (refunded: boolean): void => {
    for (const watcher of watchers) watcher({ type: 'late-answer', refunded })
  }
  const nameOf = redisKeys(prefix)
  const eviction = new Eviction(connection, nameOf('', ''), onWarning)
  const batcher: Batcher = new Batcher({
    connection,
    nameOf,
    timeout,
    clock: environment.clock,
    timers,
    serverClock: clock,
    onLate,
    refundLate: (charges, names) =>
      void refunds.refund(checksIn(charges), names, longestResetOf(charges), true),
    eviction,
    warnOf: warnOfLimits(onWarning),
  })
  const refunds = new UnconfirmedRefunds({
    send: (checks, names) => batcher.run('refund', checks, names),
    clock: environment.clock,
    timers,
  })
  const redis = new RedisCounts({
    batcher,
    refunds,
    nameOf,
    cluster: connection.cluster,
    timeout,
    environment,
    close() {
      refunds.close()
      connection.close()
    },
  })
  const caching = {
    hold: holdRefusals,
    clock: clock ?? (environment === systemRedisEnvironment ? preciseClock : environment.clock),
    dropping: eviction,
  }
  const cache = withRefusalCache(redis, caching)
  const watch: RemoteStore['watch'] = (watcher) => {
    watchers.add(watcher)
    const stop = connection.onReachable(() => watcher({ type: 'reachable' }))
    return () => {
      watchers.delete(watcher)
      stop()
    }
  }
  const parts = connection.cluster
    ? { shardOf: ({ space, key }: Check) => shardOfSlot(slotOf(nameOf(space, key))) }
    : {}
  const exchange: RedisStore['exchange'] = (settlements, checks) =>
    redis.exchange(settlements, checks)
  const holds: Pick<HoldStore, 'takeHeld'> & MappedHolds = {
    takeHeld: (checks) => redis.take(checks),
    takeHeldWith: (checks, receiver) => redis.takeWith(checks, receiver),
    settleWith: (settlements, passed, failed) => redis.settleWith(settlements, passed, failed),
  }
  const inside: RedisStore['inside'] = (wrap) => {
    const counts = wrap(redis)
    const exchange: HoldStore['exchange'] = (settlements, checks) =>
      counts.exchange(settlements, checks)
    const wrapped = withRefusalCache(counts, caching, cache)
    return Object.assign(wrapped, { timeout, watch, exchange, ...parts })
  }
  return Object.assign(cache, { timeout, watch, exchange, ...holds, inside, ...parts })
}

const NONE: readonly never[] = []

function rethrow(error: unknown): never {
  throw error
}

function exchangedOf(settled: readonly Settled[]): Exchanged {
  return { settled, verdicts: NONE }
}

function checksIn(charges: readonly Charge[]): readonly Check[] {
  return charges.map(({ check }) => check)
}

/** Decides checks of one slot. */
type Run = Batcher['run']

interface RedisCountsOptions {
  readonly batcher: Batcher
  readonly refunds: UnconfirmedRefunds
  readonly nameOf: (space: string, key: string) => string
  readonly cluster: boolean
  readonly timeout: Millis
  readonly environment: RedisEnvironment
  readonly close: () => void
}

class RedisCounts implements AsyncStore, MappedTakes, MappedSettlements {
  private readonly batcher: Batcher
  private readonly refunds: UnconfirmedRefunds
  private readonly nameOf: (space: string, key: string) => string
  private readonly cluster: boolean
  private readonly multiSlotDeadlines: Deadlines
  private readonly timeout: Millis
  private readonly clock: Clock
  private readonly release: () => void

  constructor(options: RedisCountsOptions) {
    const { batcher, refunds, nameOf, cluster, timeout, environment, close } = options
    this.release = close
    this.timeout = timeout
    this.clock = environment.clock
    this.multiSlotDeadlines = new Deadlines(
      timeout,
      environment.clock,
      environment.timers,
      callExpired,
    )
    this.batcher = batcher
    this.refunds = refunds
    this.nameOf = nameOf
    this.cluster = cluster
  }

  take(checks: readonly Check[]): Promise<readonly Verdict[]> {
    return this.takeWith(checks, AS_IT_IS)
  }

  takeWith<T>(checks: readonly Check[], receiver: TakeReceiver<T>): Promise<T> {
    const groups = this.cluster && checks.length > 1 ? this.groupsOf(checks) : NONE
    if (groups.length > 1)
      return this.takeBySlot(checks, groups).then(
        (verdicts) => receiver.passed(verdicts),
        (error: unknown) => receiver.failed(error),
      )
    if (checks.length === 0) return Promise.resolve(NONE).then(() => receiver.passed(NONE))
    return this.batcher.take(checks, receiver)
  }

  /** Takes group after group, in no more time than one call may take. */
  private takeBySlot(
    checks: readonly Check[],
    groups: readonly (readonly Indexed[])[],
  ): Promise<readonly Verdict[]> {
    const deadline = this.clock() + this.timeout
    const answer = takeInAllSlots(groups, {
      // After a pause of the process, the answer of one group is read when it is too late to take the next.
      run: (operation, checks) =>
        this.clock() > deadline ? Promise.reject(callExpired()) : this.run(operation, checks),
      refund: (charges, life, isDoubtful) => this.refundOnce(charges, life, isDoubtful),
    })
    return this.multiSlotDeadlines.race(answer, (verdicts) => {
      const charges = chargesOf(checks, verdicts)
      const slots = groupBySlot(charges, ({ check }) => slotOf(this.nameOf(check.space, check.key)))
      for (const group of slots) void this.refundOnce(group, longestResetOf(group), true)
    })
  }

  /** Refunds what the store itself has charged in one slot. */
  private refundOnce(charges: readonly Charge[], life: Millis, isDoubtful: boolean): Promise<void> {
    const checks = checksIn(charges)
    const names = checks.map(({ space, key }) => this.nameOf(space, key))
    return this.refunds.refund(checks, names, life, isDoubtful)
  }

  exchange(settlements: readonly Settlement[], checks: readonly Check[]): Promise<Exchanged> {
    if (settlements.length === 0)
      return this.take(checks).then((verdicts) => ({ settled: NONE, verdicts }))
    // Both are sent in this turn, in this order: in one call, unless they are in several slots.
    const exchanged = this.settleWith(settlements, exchangedOf, rethrow)
    if (checks.length === 0) return exchanged
    return Promise.all([exchanged, this.take(checks)]).then(([{ settled }, verdicts]) => ({
      settled,
      verdicts,
    }))
  }

  /** Outside of a cluster all answers arrive by one promise, which costs less than one for each. */
  exchangeEach(requests: readonly ExchangeRequest[]): Promise<readonly (Exchanged | Error)[]> {
    if (!this.cluster) return this.batcher.exchangeEach(requests)
    const each = requests.map(({ settlements, checks }) =>
      this.exchange(settlements, checks).catch((error: unknown) => error as Error),
    )
    return Promise.all(each)
  }

  settleWith<T>(
    settlements: readonly Settlement[],
    passed: (settled: readonly Settled[]) => MaybePromise<T>,
    failed: (error: unknown) => MaybePromise<T>,
  ): Promise<T> {
    if (this.cluster) return this.settleBySlot(settlements).then(passed, failed)
    return this.batcher.settle(settlements, passed, failed)
  }

  private async settleBySlot(settlements: readonly Settlement[]): Promise<readonly Settled[]> {
    const settled: Settled[] = []
    const indexed = settlements.map((settlement, index) => ({ settlement, index }))
    const groups = groupBySlot(indexed, ({ settlement: { space, key } }) =>
      slotOf(this.nameOf(space, key)),
    )
    const runs = groups.map(async (group) => {
      const answers = await this.batcher.settle(
        group.map(({ settlement }) => settlement),
        (settled) => settled,
        rethrow,
      )
      for (const [i, { index }] of group.entries()) settled[index] = answers[i]!
    })
    await Promise.all(runs)
    return settled
  }

  peek(checks: readonly Check[]): Promise<readonly Verdict[]> {
    return this.runBySlot('peek', checks)
  }

  async refund(checks: readonly Check[]): Promise<void> {
    await this.runBySlot('refund', checks)
  }

  async reset(checks: readonly Check[]): Promise<void> {
    await this.runBySlot('reset', checks)
  }

  /** The client stays open, and calls on their way end within the timeout. */
  async close(): Promise<void> {
    this.release()
  }

  private run(operation: Parameters<Run>[0], checks: readonly Check[]): ReturnType<Run> {
    if (checks.length === 0) return Promise.resolve([])
    return this.batcher.run(operation, checks)
  }

  /** Runs an operation that needs no agreement between slots. */
  private async runBySlot(
    operation: Parameters<Run>[0],
    checks: readonly Check[],
  ): Promise<readonly Verdict[]> {
    const verdicts: Verdict[] = []
    const run = async (group: readonly number[]): Promise<void> => {
      const answers = await this.run(
        operation,
        group.map((i) => checks[i]!),
      )
      for (const [j, i] of group.entries()) if (answers[j] !== undefined) verdicts[i] = answers[j]
    }
    const groups = this.groupsOf(checks)
    await Promise.all(groups.map((group) => run(group.map(({ index }) => index))))
    return verdicts
  }

  /** The checks by slot, in order; one group unless in a cluster. */
  private groupsOf(checks: readonly Check[]): readonly (readonly Indexed[])[] {
    const indexed = checks.map((check, index) => ({ check, index }))
    if (!this.cluster) return indexed.length === 0 ? [] : [indexed]
    return groupBySlot(indexed, ({ check }) => slotOf(this.nameOf(check.space, check.key)))
  }
}

// A store around a store that always answers in time: by the store itself, or by the fallback.
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import { faultOf, SluiceError } from '../errors.ts'
import type { Exchanged, HoldStore, Settled, Settlement } from '../stores/holds/hold-store.ts'
import { mappedTakes } from '../stores/mapped-takes.ts'
import type { MappedHolds, MappedSettlements, TakesHeldThen } from '../stores/holds/mapped-holds.ts'
import { chargedBy } from '../stores/pools.ts'
import {
  hasCoordination,
  isPromise,
  type AsyncStore,
  type Check,
  type LeasePath,
  type MaybePromise,
  type RemoteStore,
  type Store,
  type TakesThen,
} from '../stores/store.ts'
import { CallGuard, type GuardedOperation, type Shard } from './call-guard.ts'
import type { CircuitBreaker, Failure } from './circuit-breaker.ts'
import { warnOfLostStore, type FallbackEvent, type OnEvent } from './events.ts'
import { FallbackCounts } from './fallback-counts.ts'
import {
  checkResilience,
  environment as systemEnvironment,
  TIMEOUT,
  type Environment,
  type ResilienceOptions,
} from './options.ts'

/** More than any store has; pairs of shards are numbered from here on. */
const MAX_SHARDS = 2 ** 20

/**
 * A store that never fails its callers: calls have a deadline, a breaker per shard stops calls to a store that
 * fails, and each check is then answered as its `onStoreFailure` says. Verdicts carry their `source` and, when the
 * store did not answer, the `cause`.
 *
 * @example
 * ```ts
 * const store = withResilience(redisStore(client), { fallbackShare: 0.25 })
 * const limiter = createLimiter({ limit: '100/min', store })
 * ```
 */
export function withResilience(
  store: RemoteStore,
  options: ResilienceOptions = {},
  /** For tests and simulations. Default: the runtime's own. */
  environment: Partial<Environment> = {},
): AsyncStore {
  checkResilience('withResilience', options, store)
  return new ResilientStore(store, options, environment)
}

const NONE: readonly never[] = []

type GuardedTakes = GuardedOperation<readonly Check[], readonly Verdict[]>

/** The store of {@link withResilience}; its options have been checked. */
export class ResilientStore implements AsyncStore, TakesThen, TakesHeldThen, MappedSettlements {
  readonly coordinates: boolean
  private readonly store: RemoteStore
  private readonly guard: CallGuard
  /** The only shard; undefined of a store with several. */
  private readonly only: Shard | undefined
  private readonly fallback: FallbackCounts
  private readonly environment: Environment
  private readonly unwatch: (() => void) | undefined
  private readonly takes: GuardedTakes
  private readonly heldTakes: GuardedTakes

  constructor(
    store: RemoteStore,
    options: ResilienceOptions,
    environment: Partial<Environment> = {},
  ) {
    const { timeout, breaker, onEvent = warnOfLostStore, fallbackShare, replicas } = options
    this.store = store
    this.coordinates = store.coordinates === true
    this.environment = { ...systemEnvironment, ...environment }
    this.guard = new CallGuard({
      // A store with its own deadline keeps it better: a call that it has given up does nothing on the server.
      timeout: timeout ?? (store.timeout === undefined ? TIMEOUT : null),
      breaker,
      onEvent,
      ...this.environment,
    })
    this.only = store.shardOf === undefined ? this.guard.firstShard : undefined
    this.takes = this.guardedTakes(store)
    this.heldTakes = { ...this.takes, ...heldCalls(store) }
    this.fallback = new FallbackCounts({
      share: { fallbackShare, replicas },
      knownRefusal: store.knownRefusal?.bind(store),
      clock: environment.clock,
    })
    this.unwatch = store.watch?.((event) => {
      if (event.type === 'reachable') this.guard.noteReachable()
      else this.lateAnswer(event.refunded)
    })
  }

  /** How takes are guarded: by the store's own answer, else by the fallback. */
  private guardedTakes(store: RemoteStore): GuardedTakes {
    const mapped = mappedTakes(store)
    return {
      call: (checks) => store.take(checks),
      callWith: mapped.takeWith.bind(mapped),
      onFailure: (checks, failure, shard) => {
        const verdicts = this.fallback.take(checks, failure)
        shard.noteFallback(verdicts[0]!.at)
        this.reportFallback('take', failure)
        return verdicts
      },
      accept: areVerdicts,
      onLate: (checks, verdicts) => this.refundLate(checks, verdicts),
    }
  }

  /** Replaces the listener of the options. Without any, events go to the console. */
  listenWith(listeners: readonly OnEvent[]): void {
    this.guard.listeners = listeners.length === 0 ? [warnOfLostStore] : listeners
  }

  /** Units that are leased are spent whether or not the store can be reached. */
  takeNow(checks: readonly Check[]): readonly Verdict[] | undefined {
    return this.store.takeNow?.(checks)
  }

  leasePath(space: string, limit: Limit): LeasePath | undefined {
    return this.store.leasePath?.(space, limit)
  }

  take(checks: readonly Check[]): MaybePromise<readonly Verdict[]> {
    return this.takeThen(checks, (verdicts) => verdicts)
  }

  takeThen<T>(
    checks: readonly Check[],
    finish: (verdicts: readonly Verdict[]) => T,
  ): MaybePromise<T> {
    const verdicts =
      this.coordinates && hasCoordination(checks) ? this.store.takeNow?.(checks) : undefined
    if (verdicts !== undefined) return finish(verdicts)
    return this.guard.executeWith(this.only ?? this.shardFor(checks), this.takes, checks, finish)
  }

  /**
   * Checks are answered like those of `take`: while the store cannot, the fallback charges them and holds nothing.
   * Settlements belong to the store alone: they reject when it cannot answer.
   */
  exchange(settlements: readonly Settlement[], checks: readonly Check[]): MaybePromise<Exchanged> {
    const store = this.holdStore()
    if (checks.length === 0 && settlements.length > 0)
      return this.settleWith(settlements, exchangedOf, (error) => {
        throw error
      })
    if (settlements.length === 0) {
      const taken = this.takeHeld(checks)
      return isPromise(taken)
        ? taken.then((verdicts) => ({ settled: NONE, verdicts }))
        : { settled: NONE, verdicts: taken }
    }
    const { breaker } = this.only ?? this.shardFor(checks)
    const failed = (error: unknown): never => {
      reportToBreaker(breaker, error)
      throw error
    }
    try {
      const exchanged = this.guard.withDeadline(store.exchange(settlements, checks))
      return isPromise(exchanged) ? exchanged.then(undefined, failed) : exchanged
    } catch (error) {
      return failed(error)
    }
  }

  settleWith<T>(
    settlements: readonly Settlement[],
    passed: (settled: readonly Settled[]) => MaybePromise<T>,
    failed: (error: unknown) => MaybePromise<T>,
  ): MaybePromise<T> {
    const store = this.holdStore()
    const { breaker } = this.guard.firstShard
    const reportAndFail = (error: unknown): MaybePromise<T> => {
      reportToBreaker(breaker, error)
      return failed(error)
    }
    try {
      if (!this.guard.isTimed && 'settleWith' in store)
        return (store as HoldStore & MappedSettlements).settleWith(
          settlements,
          passed,
          reportAndFail,
        )
      const exchanged = this.guard.withDeadline(store.exchange(settlements, NONE))
      return isPromise(exchanged)
        ? exchanged.then(({ settled }) => passed(settled), reportAndFail)
        : passed(exchanged.settled)
    } catch (error) {
      return reportAndFail(error)
    }
  }

  takeHeld(checks: readonly Check[]): MaybePromise<readonly Verdict[]> {
    return this.takeHeldThen(checks, (verdicts) => verdicts)
  }

  takeHeldThen<T>(
    checks: readonly Check[],
    finish: (verdicts: readonly Verdict[]) => T,
  ): MaybePromise<T> {
    this.holdStore()
    return this.guard.executeWith(
      this.only ?? this.shardFor(checks),
      this.heldTakes,
      checks,
      finish,
    )
  }

  private holdStore(): HoldStore {
    const { store } = this
    if (isHoldStore(store)) return store
    throw new SluiceError(
      'invalid-option',
      'the store keeps no holds; accepted: redisStore(client)',
    )
  }

  /** A peek is never a probe: a store that takes no writes may still answer it. */
  peek(checks: readonly Check[]): Promise<readonly Verdict[]> {
    return this.guard.attempt(
      this.only ?? this.shardFor(checks),
      () => this.store.peek(checks),
      (failure) => {
        this.reportFallback('peek', failure)
        return this.fallback.peek(checks, failure)
      },
      (verdicts) => areVerdicts(checks, verdicts),
    )
  }

  /** Units are refunded where they were taken. If the store cannot take them back, they stay charged until they expire. */
  async refund(checks: readonly Check[]): Promise<void> {
    const [first] = checks
    if (first === undefined) return
    const shard = this.only ?? this.shardFor(checks)
    const { takenAt } = first
    const isLocal =
      takenAt === undefined ? shard.breaker.state !== 'closed' : shard.fellBackAt(takenAt)
    if (isLocal) return this.fallback.refund(checks)
    await this.guard.attempt<void>(
      shard,
      () => this.store.refund(checks),
      (failure) => this.reportFallback('refund', failure),
    )
  }

  /** Resets the fallback too, and rejects when the store cannot. */
  async reset(checks: readonly Check[]): Promise<void> {
    this.fallback.reset(checks)
    const { breaker } = this.only ?? this.shardFor(checks)
    try {
      await this.guard.withDeadline(this.store.reset(checks))
    } catch (error) {
      reportToBreaker(breaker, error)
      throw error
    }
  }

  close(): MaybePromise<void> {
    this.release()
    return this.store.close()
  }

  /** Ends everything but the store, which belongs to the caller. */
  release(): void {
    this.unwatch?.()
    this.fallback.close()
  }

  /** A call that was given up took units after all: its caller has another answer, so they are refunded. */
  private refundLate(checks: readonly Check[], verdicts: readonly Verdict[]): void {
    const charged = chargedBy(checks, verdicts)
    const taken = checks
      .map((check, i) => ({ ...check, takenAt: verdicts[i]!.at }))
      .filter(({ cost }, i) => cost > 0 && charged?.[i] === true)
    this.lateAnswer(taken.length > 0)
    if (taken.length === 0) return
    // When this fails too, the units stay charged until they expire.
    void Promise.resolve(this.guard.withDeadline(this.store.refund(taken))).catch(() => {})
  }

  private lateAnswer(refunded: boolean): void {
    this.guard.emit({ type: 'late-answer', at: this.environment.clock(), refunded })
  }

  private reportFallback(operation: FallbackEvent['operation'], { cause }: Failure): void {
    this.guard.emit({ type: 'fallback', at: this.environment.clock(), operation, cause })
  }

  /**
   * The shard that keeps the counts of a request, if the store has several. When its first and its last check are in two shards, the pair is
   * a shard by itself: either may be the one that every request uses.
   */
  private shardFor(checks: readonly Check[]): Shard {
    const { store, guard } = this
    if (checks.length === 0) return guard.firstShard
    const first = store.shardOf!(checks[0]!)
    const last = checks.length === 1 ? first : store.shardOf!(checks.at(-1)!)
    return guard.shard(first === last ? first : (last + 1) * MAX_SHARDS + first)
  }
}

/** Takes from a store of holds, which may offer shorter ways than `exchange`. */
function heldCalls(store: RemoteStore): Pick<GuardedTakes, 'call' | 'callWith'> {
  const holds = store as unknown as HoldStore & Partial<MappedHolds>
  const call = (checks: readonly Check[]): MaybePromise<readonly Verdict[]> => {
    if (holds.takeHeld !== undefined) return holds.takeHeld(checks)
    const exchanged = holds.exchange(NONE, checks)
    return isPromise(exchanged) ? exchanged.then(({ verdicts }) => verdicts) : exchanged.verdicts
  }
  return {
    call,
    callWith: (checks, guarded) => {
      if (holds.takeHeldWith !== undefined) return holds.takeHeldWith(checks, guarded)
      const verdicts = call(checks)
      if (!isPromise(verdicts)) return verdicts
      return verdicts.then(
        (all) => guarded.passed(all),
        (error: unknown) => guarded.failed(error),
      )
    },
  }
}

/** Reports the error of a call that had not entered to its breaker. */
function reportToBreaker(breaker: CircuitBreaker, error: unknown): void {
  if (faultOf(error) !== 'caller' && breaker.state === 'closed')
    breaker.failed(breaker.enter(), error)
}

function exchangedOf(settled: readonly Settled[]): Exchanged {
  return { settled, verdicts: NONE }
}

function isHoldStore(store: Store): store is HoldStore {
  return typeof (store as Partial<HoldStore>).exchange === 'function'
}

/** Whether a store has answered with one verdict for each check. */
function areVerdicts(checks: readonly Check[], answer: unknown): boolean {
  if (!Array.isArray(answer) || answer.length !== checks.length) return false
  for (let i = 0; i < checks.length; i++)
    if (typeof (answer[i] as Verdict | undefined)?.allowed !== 'boolean') return false
  return true
}

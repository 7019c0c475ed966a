// A store around a store: counts of rules that are `local` live in this process, under its share of the limit.
import { SluiceError } from '../errors.ts'
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import { OptionReader } from '../options/option-reader.ts'
import type { Exchanged, HoldStore, Settlement } from '../stores/holds/hold-store.ts'
import {
  mappedTakes,
  takeThrough,
  type MappedTakes,
  type TakeReceiver,
} from '../stores/mapped-takes.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { AsyncStore, Check, LeasePath, MaybePromise, SyncStore } from '../stores/store.ts'
import type { Clock } from '../time/clock.ts'
import type { CoordinationEvent } from './options.ts'

/**
 * Which part of each limit a process may admit. Parts of all processes must add up to 1 at most.
 *
 * @example
 * ```ts
 * withShares(redisStore(client), { replicas: 4 })
 * ```
 */
export interface LocalOptions {
  /** Processes that share the traffic evenly: each admits the limit divided by them. */
  readonly replicas?: number
  /** The part of this process, above 0 and up to 1: of a region with half of the quota and four processes, 0.125. */
  readonly share?: number
  /** Receives an event for each limit of which the share would be less than one unit. It is 1 then, not 0. */
  readonly onEvent?: (event: CoordinationEvent) => void
  /** For tests and simulations. Default: the runtime's own. */
  readonly clock?: Clock
}

/** Throws `invalid-option` unless the options are right. */
function checkLocalOptions(options: LocalOptions): void {
  const { replicas, share } = options
  const names = ['replicas', 'share', 'onEvent', 'clock']
  const reader = new OptionReader('withShares', options, names)
  reader.number('replicas', replicas, undefined, { least: 1, whole: true })
  reader.number('share', share, undefined, { above: 0, most: 1 })
  if (replicas !== undefined && share !== undefined)
    reader.fail('replicas and share are both set; accepted: one of them')
}

/**
 * Decides checks whose `coordination` is `local` in this process, under its share of each limit. No store is asked, so a
 * region that is lost moves no quota, and none has to be moved back. Everything else goes to the store.
 *
 * @example
 * ```ts
 * const store = withShares(redisStore(client), { share: 0.25 })
 * ```
 */
export function withShares(store: HoldStore, options: LocalOptions): SharesStore {
  checkLocalOptions(options)
  return new SharesStore(store, options)
}

/**
 * See {@link withShares}.
 *
 * @example
 * ```ts
 * const store: SharesStore = withShares(redisStore(client), { share: 0.25 })
 * ```
 */
export class SharesStore implements AsyncStore, MappedTakes {
  readonly coordinates = true
  private readonly store: HoldStore & Pick<AsyncStore, 'takeNow' | 'leasePath'>
  private readonly mapped: MappedTakes
  private readonly counts: SyncStore
  private readonly isShared: boolean
  private readonly scale: (units: number) => number
  private readonly onEvent: (event: CoordinationEvent) => void
  private readonly limits = new WeakMap<Limit, Limit>()

  constructor(store: HoldStore, options: LocalOptions) {
    const { replicas, share, clock, onEvent } = options
    this.store = store
    this.mapped = mappedTakes(store)
    this.counts = memoryStore(clock === undefined ? {} : { clock })
    this.isShared = replicas !== undefined || share !== undefined
    // A little is added before rounding down: 0.29 of 100 is 29, although the product is a bit less.
    this.scale = (units) =>
      Math.floor(replicas === undefined ? units * (share ?? 1) + 1e-6 : units / replicas)
    this.onEvent = onEvent ?? (() => {})
  }

  takeNow(checks: readonly Check[]): readonly Verdict[] | undefined {
    if (!checks.some(isLocal)) return this.store.takeNow?.(checks)
    return checks.every(isLocal) ? this.counts.take(checks.map(this.shared)) : undefined
  }

  leasePath(space: string, limit: Limit): LeasePath | undefined {
    return this.store.leasePath?.(space, limit)
  }

  takeWith<T>(
    checks: readonly Check[],
    receiver: TakeReceiver<T>,
  ): readonly Verdict[] | Promise<T> {
    if (!checks.some(isLocal)) return this.mapped.takeWith(checks, receiver)
    return takeThrough(this, checks, receiver)
  }

  take(checks: readonly Check[]): MaybePromise<readonly Verdict[]> {
    if (!checks.some(isLocal)) return this.store.take(checks)
    return this.takeNow(checks) ?? this.takeBoth(checks)
  }

  /** For requests with budgets or slots. Checks of other coordination ask the store. */
  async exchange(settlements: readonly Settlement[], checks: readonly Check[]): Promise<Exchanged> {
    if (!checks.some(isLocal)) return this.store.exchange(settlements, checks)
    let settled: Exchanged['settled'] = []
    const verdicts = await this.takeBoth(checks, async (rest) => {
      const exchanged = await this.store.exchange(settlements, rest)
      settled = exchanged.settled
      return exchanged.verdicts
    })
    return { settled, verdicts }
  }

  async peek(checks: readonly Check[]): Promise<readonly Verdict[]> {
    const own = checks.filter(isLocal)
    const rest = checks.filter((check) => !isLocal(check))
    const storeVerdicts = rest.length === 0 ? [] : await this.store.peek(rest)
    return merged(checks, this.counts.peek(own.map(this.shared)), storeVerdicts)
  }

  async refund(checks: readonly Check[]): Promise<void> {
    this.counts.refund(checks.filter(isLocal).map(this.shared))
    const rest = checks.filter((check) => !isLocal(check))
    if (rest.length > 0) await this.store.refund(rest)
  }

  /** Forgets the counts of this process; those of others are theirs. */
  async reset(checks: readonly Check[]): Promise<void> {
    this.counts.reset(checks.filter(isLocal).map(this.shared))
    const rest = checks.filter((check) => !isLocal(check))
    if (rest.length > 0) await this.store.reset(rest)
  }

  async close(): Promise<void> {
    this.counts.close()
    await this.store.close()
  }

  /** Takes here first. If this process refuses, the others are only looked at; if they refuse, this one takes back. */
  private async takeBoth(
    checks: readonly Check[],
    takeRest: (checks: readonly Check[]) => MaybePromise<readonly Verdict[]> = (rest) =>
      this.store.take(rest),
  ): Promise<readonly Verdict[]> {
    const own = checks.filter(isLocal).map(this.shared)
    const rest = checks.filter((check) => !isLocal(check))
    const localVerdicts = this.counts.take(own)
    const isAllowed = own.every(({ shadow }, i) => shadow === true || localVerdicts[i]!.allowed)
    if (!isAllowed) return merged(checks, localVerdicts, await this.store.peek(rest))
    const undo = (): void =>
      this.counts.refund(
        own
          .filter((_, i) => localVerdicts[i]!.allowed)
          .map((check) => ({ ...check, takenAt: localVerdicts[0]!.at })),
      )
    let storeVerdicts: readonly Verdict[]
    try {
      storeVerdicts = await takeRest(rest)
    } catch (error) {
      undo()
      throw error
    }
    if (rest.some(({ shadow }, i) => shadow !== true && !storeVerdicts[i]!.allowed)) undo()
    return merged(checks, localVerdicts, storeVerdicts)
  }

  /** The check under the share of this process. */
  private readonly shared = (check: Check): Check => {
    const { limit, space } = check
    if (!this.isShared)
      throw new SluiceError(
        'invalid-option',
        `a rule has coordination "local", and the share of this process is not known; accepted: withCoordination(store, { replicas }) or { share }; failure.replicas of a service`,
      )
    let shared = this.limits.get(limit)
    if (shared === undefined) {
      const { quota, burst } = limit
      const part = (units: number): number => (units === 0 ? 0 : Math.max(1, this.scale(units)))
      if (quota > 0 && this.scale(Math.min(quota, burst)) < 1)
        this.onEvent({ type: 'local', space, key: '', reason: 'below-one' })
      shared = { ...limit, quota: part(quota), burst: part(burst) }
      this.limits.set(limit, shared)
    }
    return { ...check, limit: shared }
  }
}

function isLocal({ coordination, holds }: Check): boolean {
  return coordination === 'local' && holds !== true
}

/** The verdicts of both, in the order of the checks. */
function merged(
  checks: readonly Check[],
  localVerdicts: readonly Verdict[],
  storeVerdicts: readonly Verdict[],
): readonly Verdict[] {
  const [here, there] = [localVerdicts.values(), storeVerdicts.values()]
  return checks.map((check) => (isLocal(check) ? here : there).next().value!)
}

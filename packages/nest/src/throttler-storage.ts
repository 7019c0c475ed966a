// Counts for the guard of @nestjs/throttler, in any store of Sluice.
import {
  createLimiter,
  memoryStore,
  type AlgorithmName,
  type Limiter,
  type MaybePromise,
  type Store,
  type SyncLimiter,
} from 'sluice'

/** What the guard of @nestjs/throttler asks for. Durations are in seconds, rounded up. */
export interface ThrottlerRecord {
  readonly totalHits: number
  readonly timeToExpire: number
  readonly isBlocked: boolean
  readonly timeToBlockExpire: number
}

/** Options of {@link throttlerStorage}. */
export interface ThrottlerStorageOptions {
  /** Where the counts live. Default: this process's memory. */
  readonly store?: Store
  /** How hits are counted. Default: `sliding-log`, as @nestjs/throttler counts by itself. */
  readonly algorithm?: Exclude<AlgorithmName, 'leaky-bucket'>
}

/** A `ThrottlerStorage`: pass it as `storage` to `ThrottlerModule.forRoot`. */
export interface SluiceThrottlerStorage {
  increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord>
}

/** Different limits that are kept; more than an application declares, unless it computes them for each request. */
const MAX_LIMITERS = 1000

/**
 * Counts for @nestjs/throttler. Guards, decorators and headers stay as they are; the counts are shared by all processes
 * of a remote store, and follow its rules for slow and unreachable servers. Refused requests are not charged. With a
 * `blockDuration` other than the `ttl`, a refused key stays blocked for that long.
 *
 * @example
 * ```ts
 * ThrottlerModule.forRoot({
 *   throttlers: [{ ttl: 60_000, limit: 100 }],
 *   storage: throttlerStorage({ store: redisStore(client) }),
 * })
 * ```
 */
export function throttlerStorage(options: ThrottlerStorageOptions = {}): SluiceThrottlerStorage {
  return new Storage(options)
}

class Storage implements SluiceThrottlerStorage {
  private readonly options: ThrottlerStorageOptions
  private readonly limiters = new Map<string, Limiter | SyncLimiter>()
  /** A limiter without a store makes its own, which all must share. */
  private readonly store: Store

  constructor(options: ThrottlerStorageOptions) {
    this.options = options
    this.store = options.store ?? memoryStore()
  }

  async increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord> {
    const block =
      blockDuration > 0 && blockDuration !== ttl
        ? this.limiterOf(`${throttlerName} block`, 1, blockDuration, 'token-bucket')
        : undefined
    const blocked = block && (await block.peek(key))
    if (blocked?.allowed === false) {
      const wait = seconds(blocked.retryAfter)
      return {
        totalHits: limit + 1,
        timeToExpire: wait,
        isBlocked: true,
        timeToBlockExpire: wait,
      }
    }
    const { algorithm = 'sliding-log' } = this.options
    const decision = await this.limiterOf(throttlerName, limit, ttl, algorithm).check(key)
    const timeToExpire = seconds(decision.resetAfter)
    if (decision.allowed) {
      const totalHits = Math.max(1, limit - decision.remaining)
      return { totalHits, timeToExpire, isBlocked: false, timeToBlockExpire: 0 }
    }
    if (block !== undefined) await block.check(key)
    const wait = block === undefined ? (decision.retryAfter ?? ttl) : blockDuration
    return {
      totalHits: limit + 1,
      timeToExpire,
      isBlocked: true,
      timeToBlockExpire: seconds(wait),
    }
  }

  private limiterOf(
    name: string,
    quota: number,
    window: number,
    algorithm: AlgorithmName,
  ): Limiter | SyncLimiter {
    const id = `${quota}/${window} ${algorithm} ${name}`
    let limiter = this.limiters.get(id)
    if (limiter === undefined) {
      const limit = { quota, window, algorithm }
      const policy = { name: 'throttler', rules: [{ name, by: ['key'], limit }] }
      limiter = createLimiter({ policy, store: this.store })
      if (this.limiters.size >= MAX_LIMITERS) this.forgetOldest()
      this.limiters.set(id, limiter)
    }
    return limiter
  }

  private forgetOldest(): void {
    const [oldest] = this.limiters
    if (oldest === undefined) return
    this.limiters.delete(oldest[0])
    const closing: MaybePromise<void> = oldest[1].close()
    Promise.resolve(closing).catch(() => {})
  }
}

function seconds(millis: number | null): number {
  return Math.ceil((millis ?? 0) / 1000)
}

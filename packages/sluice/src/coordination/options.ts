// The options of leases, their defaults, and what is wrong with them.
import { OptionReader } from '../options/option-reader.ts'
import type { Millis } from '../time/clock.ts'
import { backgroundTimers, type Timers } from '../time/timers.ts'
import { LeaseClock } from './lease-clock.ts'
import { LeaseStats } from './lease-stats.ts'

/**
 * A count that changed from one round trip per request to leases (`leasing`) or to counting in this process (`synced`), or
 * back (`strict`). `local`: the share of this process is less than one unit of a limit.
 *
 * @example
 * ```ts
 * const onEvent = ({ type, key, reason }: CoordinationEvent) => console.info(key, type, reason)
 * withLeases(redisStore(client), { onEvent })
 * ```
 */
export interface CoordinationEvent {
  readonly type: 'leasing' | 'synced' | 'strict' | 'local'
  readonly space: string
  /** The key of the count; empty for `local`, which concerns all keys. */
  readonly key: string
  /**
   * `demand`: it became hot or idle. `near-limit`: the store has nothing to lease, or the total is near the limit.
   * `lost`: the store forgot the lease. `below-one`: the share of this process would be
   * under 1 unit and was raised to 1, so the fleet may admit more than the limit.
   */
  readonly reason: 'demand' | 'near-limit' | 'lost' | 'below-one'
}

/**
 * How a process leases.
 *
 * @example
 * ```ts
 * withLeases(redisStore(client), { life: 2000, maxCounts: 10_000 })
 * ```
 */
export interface LeaseOptions {
  /**
   * Milliseconds for which units are leased. A process that crashes leaves its units unused for that long, and after a
   * failover nothing is leased for that long. On Redis, units of less than 1/256 of a bucket are leased for ten times as
   * long, and those of less than 1/4096 for thirty times, up to a minute. All processes on one store must use the same. Default 2000.
   */
  readonly life?: Millis
  /** Most counts that are leased at once; others cost a round trip per request. Default 131,072. */
  readonly maxCounts?: number
  /** Receives each switch of a count between leases and round trips. */
  readonly onEvent?: (event: CoordinationEvent) => void
  /** Updated on each exchange, for metrics. */
  readonly stats?: LeaseStats
}

/**
 * How a process adds up its counts with those of others.
 *
 * @example
 * ```ts
 * withSync(redisStore(client), { interval: 100 })
 * ```
 */
export interface SyncOptions {
  /**
   * Milliseconds within which every process has seen what the others took. Make it several times the round-trip time: a
   * process whose totals are older than half the interval asks the store. Default 100.
   */
  readonly interval?: Millis
  /** Most counts that are synced at once; others cost a round trip per request. Default 131,072. */
  readonly maxCounts?: number
  /** Receives each switch of a count between this process and round trips. */
  readonly onEvent?: (event: CoordinationEvent) => void
  /** Updated on each sync, for metrics. */
  readonly stats?: LeaseStats
  /** Whether the store keeps its counts in several places, such as a cluster. Default false. */
  readonly isSharded?: boolean
}

/** The default of {@link SyncOptions.interval}. */
export const SYNC_INTERVAL: Millis = 100
const MIN_INTERVAL: Millis = 10
const MAX_INTERVAL: Millis = 60_000

/** Throws `invalid-option` unless the options are right. */
export function checkSyncOptions(options: SyncOptions): void {
  const names = ['interval', 'maxCounts', 'onEvent', 'stats', 'isSharded']
  const reader = new OptionReader('withSync', options, names)
  reader.millis('interval', options.interval, SYNC_INTERVAL, MIN_INTERVAL, MAX_INTERVAL)
}

/**
 * The clock, the timers and the random names, which tests and simulations replace.
 *
 * @example
 * ```ts
 * const environment: Partial<LeaseEnvironment> = { random: () => 0.5 }
 * ```
 */
export interface LeaseEnvironment {
  readonly clock: Pick<LeaseClock, 'now'>
  readonly timers: Timers
  /** From 0 to 1, for the names of leases. */
  readonly random: () => number
}

/** The runtime's own. */
export function systemEnvironment(): LeaseEnvironment {
  return { clock: new LeaseClock(), timers: backgroundTimers, random: Math.random }
}

/** The default of {@link LeaseOptions.life}. */
export const LEASE_LIFE: Millis = 2000
const MIN_LIFE: Millis = 200
const MAX_LIFE: Millis = 60_000
/** The default of {@link LeaseOptions.maxCounts}. */
export const MAX_COUNTS = 131_072

/** Throws `invalid-option` unless the options are right. */
export function checkLeaseOptions(options: LeaseOptions): void {
  const { life, maxCounts, onEvent, stats } = options
  const reader = new OptionReader('withLeases', options, ['life', 'maxCounts', 'onEvent', 'stats'])
  reader.millis('life', life, LEASE_LIFE, MIN_LIFE, MAX_LIFE)
  reader.number('maxCounts', maxCounts, MAX_COUNTS, { least: 1, whole: true })
  reader.callable('onEvent', onEvent, undefined)
  if (stats !== undefined && !(stats instanceof LeaseStats))
    reader.wrong('stats', stats, 'new LeaseStats()')
}

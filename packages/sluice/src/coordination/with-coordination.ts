// The stores of all modes of coordination around one store, in their order.
import { OptionReader } from '../options/option-reader.ts'
import type { HoldStore, RemoteHoldStore } from '../stores/holds/hold-store.ts'
import type { AsyncStore, RemoteStore } from '../stores/store.ts'
import type { Clock, Millis } from '../time/clock.ts'
import { withLeases } from './leased-store.ts'
import { withShares } from './local-store.ts'
import type { LeaseEnvironment, LeaseOptions } from './options.ts'
import { withSync } from './synced-store.ts'

/**
 * How the processes of a fleet share counts.
 *
 * @example
 * ```ts
 * withCoordination(redisStore(client), { life: 2000, interval: 100, replicas: 4 })
 * ```
 */
export interface CoordinationOptions extends LeaseOptions {
  /** For `synced`: milliseconds within which every process has seen what the others took. Default 100. */
  readonly interval?: Millis
  /** For `local`: processes that share the traffic evenly. */
  readonly replicas?: number
  /** For `local`: the part of each limit that this process may admit, above 0 and up to 1, instead of `replicas`. */
  readonly share?: number
}

/**
 * As {@link LeaseEnvironment}, with the clock of `local` counts.
 *
 * @example
 * ```ts
 * const environment: Partial<CoordinationEnvironment> = { wallClock: fakeClock() }
 * const store = withCoordination(redisStore(client), {}, environment)
 * ```
 */
export interface CoordinationEnvironment extends LeaseEnvironment {
  readonly wallClock: Clock
}

const OPTIONS = ['interval', 'replicas', 'share', 'life', 'maxCounts', 'onEvent', 'stats']

/**
 * A store for rules with a `coordination`. Give it to `createLimiter` in place of the store; rules without a
 * `coordination` are counted as before. Closing it gives back what is leased, and closes the store.
 *
 * @example
 * ```ts
 * const limiter = createLimiter({ limit: '1000/s', store: withCoordination(redisStore(client)) })
 * ```
 */
export function withCoordination(
  store: RemoteHoldStore,
  options: CoordinationOptions = {},
  /** For tests and simulations. Default: the runtime's own. */
  environment: Partial<CoordinationEnvironment> = {},
): RemoteStore {
  // The stores inside check the values.
  new OptionReader('withCoordination', options, OPTIONS)
  const { interval, replicas, share, ...leases } = options
  const { life: _, ...common } = leases
  const { wallClock, ...lessee } = environment
  const isSharded = store.shardOf !== undefined
  const sync = { ...common, isSharded, ...(interval !== undefined && { interval }) }
  const local = {
    ...(replicas !== undefined && { replicas }),
    ...(share !== undefined && { share }),
    ...(options.onEvent && { onEvent: options.onEvent }),
    ...(wallClock && { clock: wallClock }),
  }
  const wrap = (inner: HoldStore): AsyncStore & HoldStore =>
    withShares(withSync(withLeases(inner, leases, lessee), sync, lessee), local)
  if (store.inside !== undefined) return store.inside(wrap)
  const { timeout } = store
  return Object.assign(wrap(store), {
    ...(timeout !== undefined && { timeout }),
    ...(store.knownRefusal && { knownRefusal: store.knownRefusal.bind(store) }),
    ...(store.shardOf && { shardOf: store.shardOf.bind(store) }),
    ...(store.watch && { watch: store.watch.bind(store) }),
  })
}

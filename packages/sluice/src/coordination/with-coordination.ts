// The stores of all modes of coordination around one store, in their order.
import type { HoldStore, RemoteHoldStore } from '../stores/holds/hold-store.ts'
import type { RemoteStore } from '../stores/store.ts'
import { withLeases, type LeasedStore } from './leased-store.ts'
import type { LeaseEnvironment, LeaseOptions } from './options.ts'

/** How the processes of a fleet share counts. */
export interface CoordinationOptions extends LeaseOptions {}

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
  environment: Partial<LeaseEnvironment> = {},
): RemoteStore {
  const wrap = (inner: HoldStore): LeasedStore => withLeases(inner, options, environment)
  if (store.inside !== undefined) return store.inside(wrap)
  const { timeout } = store
  return Object.assign(wrap(store), {
    ...(timeout !== undefined && { timeout }),
    ...(store.knownRefusal && { knownRefusal: store.knownRefusal.bind(store) }),
    ...(store.shardOf && { shardOf: store.shardOf.bind(store) }),
    ...(store.watch && { watch: store.watch.bind(store) }),
  })
}

// The public entry `sluice/coordination`: how the processes of a fleet share counts without a round trip per request.
export {
  withCoordination,
  type CoordinationEnvironment,
  type CoordinationOptions,
} from './with-coordination.ts'
export { withLeases, type LeasedStore } from './leased-store.ts'
export { withShares, type LocalOptions, type SharesStore } from './local-store.ts'
export { withSync, type SyncedStore } from './synced-store.ts'
export type { CoordinationEvent, LeaseEnvironment, LeaseOptions, SyncOptions } from './options.ts'
export { LeaseStats } from './lease-stats.ts'

// The public entry `sluice/coordination`: how the processes of a fleet share counts without a round trip per request.
export { withCoordination, type CoordinationOptions } from './with-coordination.ts'
export { withLeases, type LeasedStore } from './leased-store.ts'
export type { CoordinationEvent, LeaseEnvironment, LeaseOptions } from './options.ts'
export { LeaseStats } from './lease-stats.ts'

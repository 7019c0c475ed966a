// The public entry `sluice/simulator`: a fleet on virtual time that decides by the real stores.
export { arrivalsOf, START, type Arrival } from './arrivals.ts'
export type { Admitted } from './excess.ts'
export { excessOf } from './excess.ts'
export type { Bound, KeyCount, KeyCounts, Latency, SimulationResult, Timeline } from './result.ts'
export type {
  Fault,
  ModeName,
  Retry,
  Routing,
  Scenario,
  SharedStoreOptions,
  Traffic,
  TrafficShape,
} from './scenario.ts'
export { MODE_NAMES } from './scenario.ts'
export { simulate } from './simulate.ts'

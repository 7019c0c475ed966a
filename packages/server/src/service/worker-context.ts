// The place of one worker among several: what it has instead of what a service that is alone has for itself.
import type { Policy } from 'sluice'
import type { ControlStore } from '../controls/control.ts'
import type { DomainConfig } from '../envoy/descriptors/domain-config.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { OpenStore } from '../store/open-store.ts'

/** What a worker is given. */
export interface Seat {
  /** The counts of all workers, when they are in a process of their own. */
  readonly opened?: OpenStore
  /** Where blocks and overrides of all workers are kept, when it is not Redis. */
  readonly controls?: ControlStore
  /** The descriptors in force; files are read by the primary. */
  readonly domains?: readonly DomainConfig[]
  /** The number of the policies in force, the same in all workers. */
  readonly generation: () => number
  /** What `/readyz` says of the whole service. */
  readonly detail: () => object
  /** The figures of all workers together. */
  readonly metricsText: () => Promise<string>
  /** Hands over what the primary may change, once, before any port opens. */
  readonly onParts: (parts: SeatParts) => void
}

/** What changes while a worker runs, and what it has counted. */
export interface SeatParts {
  readonly metrics: MetricRegistry
  readonly swapPolicies: (policies: readonly Policy[]) => void
  readonly swapDomains: (domains: readonly DomainConfig[]) => void
}

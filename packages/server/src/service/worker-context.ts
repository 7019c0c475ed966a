// What the primary process provides to a worker, in place of what a single process does itself.
import type { Policy } from 'sluice'
import type { DomainConfig } from '../envoy/descriptors/domain-config.ts'
import type { MetricRegistry } from '../metrics/registry.ts'

/** The context of one worker: the primary process reads the files and adds up the metrics. */
export interface WorkerContext {
  /** The descriptors in force at the start. */
  readonly domains?: readonly DomainConfig[]
  /** The number of the policies in force, the same in all workers. */
  readonly generation: () => number
  /** What `/readyz` shows of the whole service. */
  readonly detail: () => object
  /** The metrics of all processes together, or those with one of the names. */
  readonly metricsText: (names?: ReadonlySet<string>) => Promise<string>
  /** Receives what the primary may change, once, before any port opens. */
  readonly onStarted: (controls: WorkerControls) => void
}

/** What the primary changes in a running worker, and what it reads from it. */
export interface WorkerControls {
  readonly metrics: MetricRegistry
  readonly swapPolicies: (policies: readonly Policy[]) => void
  readonly swapDomains: (domains: readonly DomainConfig[]) => void
}

// What every protocol of the service is built on.
import type { Health } from '../health/health.ts'
import type { Log } from '../log/log.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { Certificates } from '../tls/certificates.ts'
import type { LimiterSource } from './limiters.ts'

/** The parts of the service that listeners share. */
export interface ServiceContext {
  /** Read `limiters.current` once per request. The limiters themselves count decisions in the metrics. */
  readonly limiters: LimiterSource
  readonly health: Health
  /** For the protocol's own metrics. */
  readonly metrics: MetricRegistry
  /** Keys and certificates of listeners with TLS. */
  readonly certificates: Certificates
  readonly log: Log
}

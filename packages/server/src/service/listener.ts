// The seam for protocols: what a listener is given, and what it must be able to do.
import type { Millis } from 'sluice'
import type { LimiterSource } from '../limiters/limiters.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { Certificates } from '../tls/certificates.ts'
import type { Health } from './health.ts'
import type { Log } from './log.ts'

/** What every protocol of the service is built on. */
export interface ServiceContext {
  /** Read `limiters.current` once per request. Decisions are counted in the metrics by the limiters themselves. */
  readonly limiters: LimiterSource
  readonly health: Health
  /** For figures of the protocol's own. */
  readonly metrics: MetricRegistry
  /** Keys and certificates, for a listener with TLS; its first lines say how. */
  readonly certificates: Certificates
  readonly log: Log
}

/** An open port. */
export interface Listener {
  /** Which protocol it speaks, such as `http`. */
  readonly name: string
  /** Where it is reached, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /**
   * Takes no new work, lets what has begun finish for at most `patience` milliseconds, and then cuts it off.
   * Resolves when nothing is open any more. By then health has been saying "not ready" for a while.
   */
  close(patience: Millis): Promise<void>
}

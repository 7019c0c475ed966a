// Metrics of TLS, by listener.
import type { MetricRegistry } from '../metrics/registry.ts'
import type { Counter, Gauge } from '../metrics/series.ts'

/** The metrics of one listener. */
export interface TlsMetrics {
  readonly expires: Gauge
  readonly applied: Counter
  readonly notValid: Counter
  readonly failed: Counter
  readonly verified: Counter
  readonly anonymous: Counter
}

/** The metrics of a listener, by its name. */
export function tlsMetrics(metrics: MetricRegistry): (listener: string) => TlsMetrics {
  const expires = metrics.gauge(
    'sluice_tls_certificate_expiry_timestamp_seconds',
    'When the certificate in use ends, since 1970.',
    ['listener'],
    'min',
  )
  const reloads = metrics.counter(
    'sluice_tls_reloads_total',
    'Attempts to put changed certificates in force.',
    ['listener', 'result'],
  )
  const connections = metrics.counter(
    'sluice_tls_connections_total',
    'Connections by what came of the handshake.',
    ['listener', 'client'],
  )
  return (listener) => ({
    expires: expires.with(listener),
    applied: reloads.with(listener, 'applied'),
    notValid: reloads.with(listener, 'failed'),
    failed: connections.with(listener, 'failed'),
    verified: connections.with(listener, 'verified'),
    anonymous: connections.with(listener, 'anonymous'),
  })
}

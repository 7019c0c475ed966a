// Metrics of the gRPC listener. Labels come from files and from the protocol, never from requests.
import type { MetricRegistry } from '../metrics/registry.ts'
import type { GrpcServerOptions } from './grpc/server.ts'
import { STATUS, type StatusName } from './grpc/status.ts'
import type { OnResponse } from './should-rate-limit.ts'
import { OVER_LIMIT } from './wire/response.ts'

/** What the listener reports to. */
export interface EnvoyMetrics {
  readonly onCall: NonNullable<GrpcServerOptions['onCall']>
  readonly onResponse: OnResponse
}

/** Adds the listener's metrics to those of the service. */
export function envoyMetrics(metrics: MetricRegistry): EnvoyMetrics {
  const calls = metrics.counter('sluice_grpc_calls_total', 'Calls by the status they ended with.', [
    'status',
  ])
  const took = metrics
    .histogram('sluice_grpc_call_duration_seconds', 'From the arrival of a call to its answer.')
    .with()
  const requests = metrics.counter(
    'sluice_envoy_requests_total',
    'Requests of proxies by domain and answer; the domain is empty when it is unknown.',
    ['domain', 'code'],
  )
  const shadows = metrics.counter(
    'sluice_envoy_shadow_refusals_total',
    'Descriptors that a limit in shadow or quota mode would have refused.',
    ['domain'],
  )
  const names = Object.keys(STATUS) as StatusName[]
  const byStatus = new Map(names.map((name) => [name, calls.with(name)]))
  const byDomain = new Map<string, ReturnType<typeof countersOf>>()
  const countersOf = (domain: string) => ({
    ok: requests.with(domain, 'OK'),
    over: requests.with(domain, 'OVER_LIMIT'),
    shadow: shadows.with(domain),
  })
  return {
    onCall(status, millis) {
      byStatus.get(status)!.add()
      took.observe(millis)
    },
    onResponse(request, response, known) {
      const domain = known ? request.domain : ''
      let counters = byDomain.get(domain)
      if (counters === undefined) {
        counters = countersOf(domain)
        byDomain.set(domain, counters)
      }
      if (response.overallCode === OVER_LIMIT) counters.over.add()
      else counters.ok.add()
      if (response.unenforced > 0) counters.shadow.add(response.unenforced)
    },
  }
}

/** Adds whether the descriptor files are in force as they are. */
export function addFilesMetric(
  metrics: MetricRegistry,
  files: { readonly problems: readonly string[] },
): void {
  metrics
    .gauge(
      'sluice_envoy_files_valid',
      'Whether the descriptor files, as they were last read, are in force.',
    )
    .with()
    .readFrom(() => (files.problems.length === 0 ? 1 : 0))
}

// The metrics of the reverse proxy, by result alone.
import type { Counter, Histogram } from '../metrics/series.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { UsageResult } from './request-holds.ts'
import type { ExchangeEnd } from './exchange.ts'
import type { Upstream } from './upstream.ts'

const RESULTS = [
  'forwarded',
  'refused',
  'unavailable',
  'invalid',
  'abandoned',
  'upstream-unreachable',
  'upstream-reset',
  'upstream-invalid',
  'upstream-timeout',
  'upstream-busy',
  'upstream-cut',
  'request-timeout',
] as const

const USAGES: readonly UsageResult[] = ['read', 'unknown', 'failed']

/** The result of a proxied request. */
export type ProxyResult = (typeof RESULTS)[number]

/** Where the proxy counts. */
export interface GatewayMetrics {
  readonly count: (result: ProxyResult) => void
  /** Counts the responses of LLM routes by what they said of their tokens. */
  readonly countUsage: (result: UsageResult) => void
  /** From the request to the head of the upstream's response. */
  readonly latency: Histogram
}

/** Registers the metrics. */
export function gatewayMetrics(metrics: MetricRegistry, upstream: Upstream): GatewayMetrics {
  const requests = metrics.counter(
    'sluice_proxy_requests_total',
    'Requests to the reverse proxy.',
    ['result'],
  )
  const counters = new Map<ProxyResult, Counter>(
    RESULTS.map((result) => [result, requests.with(result)]),
  )
  const latency = metrics
    .histogram(
      'sluice_proxy_upstream_duration_seconds',
      'Until the head of the upstream’s response.',
    )
    .with()
  metrics
    .gauge('sluice_proxy_upstream_requests', 'Requests and tunnels at the upstream now.')
    .with()
    .readFrom(() => upstream.active)
  const settled = metrics.counter(
    'sluice_proxy_llm_requests_total',
    'Requests to LLM routes, by whether the response told its tokens.',
    ['usage'],
  )
  const usages = new Map(USAGES.map((usage) => [usage, settled.with(usage)]))
  return {
    count: (result) => counters.get(result)?.add(),
    countUsage: (usage) => usages.get(usage)?.add(),
    latency,
  }
}

/** The result of an exchange, as it is counted. */
export const RESULT_OF: Readonly<Record<ExchangeEnd, ProxyResult>> = {
  forwarded: 'forwarded',
  abandoned: 'abandoned',
  cut: 'upstream-cut',
  unreachable: 'upstream-unreachable',
  reset: 'upstream-reset',
  invalid: 'upstream-invalid',
  timeout: 'upstream-timeout',
  overloaded: 'upstream-busy',
  slow: 'request-timeout',
}

// Metrics of the gRPC listener. Labels come from files and from the protocol, never from requests.
import { visibleOutcomes, type Decision, type DecisionRequest } from 'sluice'
import type { CountedRules } from '../metrics/decision-metrics.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import { isCharged } from '../metrics/policy-metrics.ts'
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

/** The counters of the descriptors of all files. */
interface DescriptorMetrics {
  /** What is to be called with the decisions of some rules. */
  readonly countDescriptors: (
    counted: CountedRules,
  ) => (decision: Decision, request: DecisionRequest) => void
  /** Drops the series of descriptors that are no longer in force. */
  readonly retain: (counted: readonly CountedRules[]) => void
}

/**
 * Adds counters for each descriptor of the files: all hits, those near the limit and those over it. Units above
 * `nearLimitRatio` of a limit are near it.
 */
export function descriptorMetrics(
  metrics: MetricRegistry,
  nearLimitRatio: number,
): DescriptorMetrics {
  const family = (name: string, help: string) =>
    metrics.counter(`sluice_envoy_descriptor_${name}_total`, help, ['domain', 'descriptor'])
  const hits = family('hits', 'Units that requests asked of a descriptor.')
  const near = family(
    'near_limit',
    'Units that were taken above the near-limit ratio of the limit.',
  )
  const over = family('over_limit', 'Units that were refused, also by limits in shadow mode.')
  const retain = (counted: readonly CountedRules[]): void => {
    const kept = new Set(
      counted.flatMap(({ name, rules }) => rules.map((rule) => JSON.stringify([name, rule.name]))),
    )
    for (const one of [hits, near, over])
      one.retain(([domain, rule]) => domain === 'other' || kept.has(JSON.stringify([domain, rule])))
  }
  const countDescriptors: DescriptorMetrics['countDescriptors'] = ({ name: domain, rules }) => {
    const counters = new Map(
      rules.map(({ name }) => [
        name,
        {
          hits: hits.with(domain, name),
          near: near.with(domain, name),
          over: over.with(domain, name),
        },
      ]),
    )
    return (decision, { checks }) => {
      const outcomes = visibleOutcomes(decision)
      for (let i = 0; i < outcomes.length; i++) {
        const outcome = outcomes[i]!
        const { rule, allowed, limit, remaining } = outcome
        const check = checks[i]!
        const { cost } = check
        const own = counters.get(rule)
        if (own === undefined || cost === 0) continue
        own.hits.add(cost)
        if (!allowed) own.over.add(cost)
        else if (isCharged(decision, check, outcome)) {
          const above = limit.quota - remaining - Math.floor(limit.quota * nearLimitRatio)
          if (above > 0) own.near.add(Math.min(above, cost))
        }
      }
    }
  }
  return { countDescriptors, retain }
}

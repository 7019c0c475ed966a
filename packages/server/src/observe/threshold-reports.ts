// What the service does when a key crosses a threshold: counts it, logs it and sends it to the webhooks.
import { watchThresholds, type ThresholdWatch } from 'sluice'
import type { Log } from '../log/log.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { Webhooks } from './webhooks.ts'

/** Makes the observer of each policy. */
export function thresholdReports(
  webhooks: Webhooks,
  metrics: MetricRegistry,
  log: Log,
): (policy: string) => ThresholdWatch {
  const events = metrics
    .counter('sluice_threshold_events_total', 'Thresholds of quotas that keys have crossed.', [])
    .with()
  return (policy) =>
    watchThresholds((event) => {
      const { rule, key, threshold, used, limit, at, quietUntil, attributes } = event
      events.add(1)
      log.debug({ policy, rule, threshold, used }, 'a key has crossed a threshold')
      webhooks.send('threshold', {
        policy,
        rule,
        key,
        attributes,
        threshold,
        used,
        limit,
        at,
        quietUntil,
      })
    })
}

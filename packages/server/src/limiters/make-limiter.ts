// Makes the limiter of a policy: on the store of the service, counted, and with a stand-in when the store can fail.
import { createLimiter, systemClock, type Policy } from 'sluice'
import type { FailureConfig } from '../config/config.ts'
import { DecisionMetrics } from '../metrics/decision-metrics.ts'
import { Offenders } from '../metrics/offenders.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { StoreMetrics } from '../metrics/store-metrics.ts'
import type { OpenStore } from '../store/open-store.ts'
import type { KnownBlocks } from '../controls/live-controls.ts'
import { blocking } from './blocking.ts'
import { measured } from './measured.ts'
import type { MakeLimiter } from './registry.ts'

/** How limiters are made for as long as the service runs. */
export function limiterMaker(
  { store }: OpenStore,
  failure: FailureConfig,
  metrics: MetricRegistry,
  storeMetrics: StoreMetrics,
  offenders: Offenders = new Offenders(),
  blocks?: KnownBlocks,
): MakeLimiter {
  const decisions = new DecisionMetrics(metrics)
  return (policy: Policy) => {
    const limiter =
      store.sync === true
        ? createLimiter({ policy, store })
        : createLimiter({
            policy,
            store,
            resilience: { ...failure, onEvent: storeMetrics.listenerFor(policy.name) },
          })
    const guarded =
      blocks === undefined
        ? limiter
        : blocking(limiter, policy.name, blocks, systemClock, store.sync === true)
    const onStoreError = (code: string): void => storeMetrics.failed(code)
    return measured(guarded, decisions.of(policy), onStoreError, offenders.noterFor(policy))
  }
}

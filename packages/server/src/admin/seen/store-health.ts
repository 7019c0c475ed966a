// The state of the store: whether it is reachable, how fast it is, how full.
import type { StoreHealth } from './findings.ts'
import type { StoreMetrics } from '../../metrics/store-metrics.ts'
import type { OpenStore } from '../../store/open-store.ts'

/** What is read. */
export interface StoreHealthOptions {
  readonly storeMetrics: StoreMetrics
  readonly opened: OpenStore
}

/** The state of the store as data; milliseconds and bytes. */
export function storeHealth({ storeMetrics, opened }: StoreHealthOptions): StoreHealth {
  const { memory, redis, server } = opened
  const sample = server?.latest
  return {
    kind: memory === undefined ? 'redis' : 'memory',
    degraded: storeMetrics.isDegraded,
    connection: redis?.client.status ?? null,
    breakers: Object.fromEntries(storeMetrics.breakers),
    latency: storeMetrics.latency,
    memory: memory?.stats() ?? null,
    server: sample ?? null,
  }
}

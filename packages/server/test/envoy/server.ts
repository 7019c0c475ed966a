// Starts the gRPC listener on a loopback port with the example files, for tests.
import { fileURLToPath } from 'node:url'
import { memoryStore, type Policy, type Store } from 'sluice'
import { createLimiter } from 'sluice'
import { fakeClock, type FakeClock } from 'sluice/testing'
import { DomainRegistry, type DomainOptions } from '../../src/envoy/domains.ts'
import { loadDomains } from '../../src/envoy/files/load.ts'
import { openEnvoy, type EnvoyListenerOptions } from '../../src/envoy/listener.ts'
import { LimiterRegistry } from '../../src/limiters/registry.ts'
import { MetricRegistry } from '../../src/metrics/registry.ts'
import { Health } from '../../src/health/health.ts'
import type { Log } from '../../src/log/log.ts'

const EXAMPLES = fileURLToPath(new URL('./ratelimit', import.meta.url))

/** 10:20:30 of some day: 30 s before a minute ends, 39:30 before an hour does. */
export const NOON: number = Date.UTC(2026, 10, 16, 10, 20, 30)

const noLog = (): void => {}
export const SILENT: Log = { debug: noLog, info: noLog, warn: noLog, error: noLog }

/** What a test starts the listener with. */
export interface TestServerOptions
  extends Partial<Omit<DomainOptions, 'around'>>, Partial<Omit<EnvoyListenerOptions, 'domains'>> {
  readonly store?: Store
  readonly policies?: readonly Policy[]
  readonly log?: Log
}

export interface TestServer {
  readonly url: string
  /** `host:port`. */
  readonly target: string
  readonly clock: FakeClock
  readonly metrics: MetricRegistry
  readonly health: Health
  readonly domains: DomainRegistry
  close(patience?: number): Promise<void>
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const clock = fakeClock(NOON)
  const { store = memoryStore({ clock }), policies = [], log = SILENT, ...rest } = options
  const { algorithm, charging, headers, onStoreFailure, ...listening } = rest
  const limiters = new LimiterRegistry(policies, (policy) => createLimiter({ policy, store }))
  const domains = new DomainRegistry(
    {
      around: () => ({ store }),
      ...(onStoreFailure && { onStoreFailure }),
      ...(algorithm && { algorithm }),
      ...(charging && { charging }),
      ...(headers && { headers }),
    },
    limiters,
  )
  domains.swap(loadDomains([EXAMPLES]).domains)
  const metrics = new MetricRegistry()
  const health = new Health()
  health.become('serving')
  const listener = await openEnvoy(
    { host: '127.0.0.1', port: 0, domains, ...listening },
    { health, metrics, log },
  )
  return {
    url: listener.url,
    target: new URL(listener.url).host,
    clock,
    metrics,
    health,
    domains,
    close: (patience = 1000) => listener.close(patience),
  }
}

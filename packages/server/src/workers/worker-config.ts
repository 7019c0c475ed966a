// One worker's share of what the file grants the whole service.
import type { Config, FailureConfig } from '../config/config.ts'

/** The share of every limit that a service grants without its store, if the file does not set another. */
const FALLBACK_SHARE = 0.5

/**
 * The configuration of one of `workers`. Each worker counts by itself while the store is unreachable, so each grants
 * only its share of what the service may grant. Connections are divided too.
 */
export function workerConfig(config: Config): Config {
  const { workers, failure, listeners } = config
  return {
    ...config,
    failure: sharedFailure(failure, workers),
    listeners: Object.fromEntries(
      Object.entries(listeners).map(([name, listener]) => [name, perWorker(listener, workers)]),
    ) as unknown as Config['listeners'],
  }
}

function perWorker(listener: object, workers: number): object {
  const shared = ['maxConnections', 'maxConnectionsPerAddress', 'maxRequestsPerAddress'] as const
  const parts: Record<string, number> = {}
  for (const name of shared) {
    const value = (listener as Partial<Record<string, number>>)[name]
    if (value !== undefined) parts[name] = Math.ceil(value / workers)
  }
  return { ...listener, ...parts }
}

function sharedFailure(
  { replicas, fallbackShare = FALLBACK_SHARE }: FailureConfig,
  workers: number,
): FailureConfig {
  return replicas === undefined
    ? { fallbackShare: fallbackShare / workers }
    : { replicas: replicas * workers }
}

// One worker's part of what the file grants the whole service.
import type { Config, FailureConfig } from '../config/config.ts'

/** The part that a service grants without its store when the file says nothing. */
const FALLBACK_SHARE = 0.5

/**
 * The configuration of one of `workers`. Every worker counts for itself while the store is away, so that each may
 * grant only its part of what the service may; and each has its part of the connections.
 */
export function workerConfig(config: Config): Config {
  const { workers, failure, listeners } = config
  return {
    ...config,
    failure: sharedFailure(failure, workers),
    listeners: Object.fromEntries(
      Object.entries(listeners).map(([name, listener]) => [name, partOf(listener, workers)]),
    ) as unknown as Config['listeners'],
  }
}

function partOf(listener: object, workers: number): object {
  const shared = ['maxConnections', 'maxConnectionsPerAddress'] as const
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

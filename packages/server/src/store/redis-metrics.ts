// The Redis server in metrics.
import type { MetricRegistry } from '../metrics/registry.ts'
import type { RedisSample, RedisServerInfo } from './redis-server-info.ts'

/** Adds memory, evictions and clock offset of the server, as it last reported them; 0 before that. */
export function addRedisMetrics(metrics: MetricRegistry, server: RedisServerInfo): void {
  const read = (value: (sample: RedisSample) => number) => () =>
    server.latest === undefined ? 0 : value(server.latest)
  metrics
    .gauge('sluice_redis_memory_used_bytes', 'Memory that Redis uses.', [], 'max')
    .with()
    .readFrom(read(({ usedMemory }) => usedMemory))
  metrics
    .gauge('sluice_redis_memory_max_bytes', 'Memory that Redis may use; 0 for no limit.', [], 'max')
    .with()
    .readFrom(read(({ maxMemory }) => maxMemory))
  metrics
    .gauge('sluice_redis_evicted_keys', 'Keys that Redis has evicted since it started.', [], 'max')
    .with()
    .readFrom(read(({ evictedKeys }) => evictedKeys))
  metrics
    .gauge(
      'sluice_redis_clock_offset_seconds',
      "The server's clock minus that of this process.",
      [],
      'max',
    )
    .with()
    .readFrom(read(({ clockOffset }) => clockOffset / 1000))
}

// The public entry `sluice/redis`.
export {
  ioredisClusterOptions,
  ioredisOptions,
  nodeRedisClusterOptions,
  nodeRedisOptions,
  nodeRedisSentinelOptions,
  upstashOptions,
  type IoredisClusterSettings,
  type IoredisSettings,
  type NodeRedisClusterSettings,
  type NodeRedisSentinelSettings,
  type NodeRedisSettings,
  type UpstashSettings,
} from './client-options.ts'
export { reconnectDelay } from './reconnect-delay.ts'
export { redisKeys } from './redis-key.ts'
export { redisStore, type RedisStoreOptions } from './redis-store.ts'
export type { RedisClient } from './client.ts'
export type { GlideLike } from './glide.ts'
export type { IoredisLike } from './ioredis.ts'
export type { NodeRedisLike } from './node-redis.ts'
export type { UpstashLike } from './upstash.ts'
export type { StoreWarning } from './warnings.ts'

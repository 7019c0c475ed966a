// The public entry `sluice/redis`.
export { reconnectDelay } from './reconnect-delay.ts'
export { redisKeys } from './redis-key.ts'
export { redisStore, type RedisStoreOptions } from './redis-store.ts'
export type { GlideLike, IoredisLike, NodeRedisLike, RedisClient } from './client.ts'
export type { StoreWarning } from './warnings.ts'

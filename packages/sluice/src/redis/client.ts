// The Redis clients that the store accepts, recognised by their methods. No client is imported.
import type { ClientAdapter } from './client-adapter.ts'
import { glideAdapter, type GlideLike } from './glide.ts'
import { ioredisAdapter, type IoredisLike } from './ioredis.ts'
import { nodeRedisAdapter, type NodeRedisLike } from './node-redis.ts'
import { isUpstash, upstashAdapter, type UpstashLike } from './upstash.ts'

/**
 * A client that {@link redisStore} can use.
 *
 * @example
 * ```ts
 * const storeOn = (client: RedisClient) => redisStore(client)
 * ```
 */
export type RedisClient = IoredisLike | NodeRedisLike | GlideLike | UpstashLike

/** How to use a client; undefined if its shape is unknown. */
export function adapterOf(
  client: RedisClient,
  cluster: boolean | undefined,
): ClientAdapter | undefined {
  if (typeof client !== 'object' || client === null) return undefined
  if (isUpstash(client)) return upstashAdapter(client)
  if ('evalSha' in client && typeof client.evalSha === 'function') {
    return nodeRedisAdapter(client, cluster ?? 'masters' in client)
  }
  if ('evalsha' in client && typeof client.evalsha === 'function') {
    return ioredisAdapter(client, cluster ?? client.isCluster === true)
  }
  if ('customCommand' in client && typeof client.customCommand === 'function') {
    return glideAdapter(client, cluster ?? 'pubsubShardChannels' in client)
  }
  return undefined
}

// The real types of the clients fit the shapes that the store asks for, without a cast.
import type { Redis as UpstashRedis } from '@upstash/redis'
import type { GlideClient, GlideClusterClient } from '@valkey/valkey-glide'
import type { Cluster as IoredisCluster, Redis as Ioredis } from 'ioredis'
import type { Cluster as IovalkeyCluster, Redis as Iovalkey } from 'iovalkey'
import type {
  createClient,
  createClientPool,
  createCluster,
  createSentinel,
  RedisClientPoolType,
  RedisClientType,
  RedisClusterType,
  RedisSentinelType,
} from 'redis'
import { describe, expectTypeOf, it } from 'vitest'
import type { RedisClient } from './client.ts'
import type { GlideLike } from './glide.ts'
import type { IoredisLike } from './ioredis.ts'
import type { NodeRedisLike } from './node-redis.ts'
import { redisStore } from './redis-store.ts'
import type { UpstashLike } from './upstash.ts'

describe('a client of', () => {
  it('ioredis fits', () => {
    expectTypeOf<Ioredis>().toExtend<IoredisLike>()
    expectTypeOf<IoredisCluster>().toExtend<IoredisLike>()
    expectTypeOf(redisStore).toBeCallableWith({} as Ioredis)
    expectTypeOf(redisStore).toBeCallableWith({} as IoredisCluster)
  })

  it('iovalkey fits', () => {
    expectTypeOf<Iovalkey>().toExtend<IoredisLike>()
    expectTypeOf<IovalkeyCluster>().toExtend<IoredisLike>()
    expectTypeOf(redisStore).toBeCallableWith({} as Iovalkey)
    expectTypeOf(redisStore).toBeCallableWith({} as IovalkeyCluster)
  })

  it('node-redis fits: alone, pooled, by sentinels, in a cluster', () => {
    expectTypeOf<RedisClientType>().toExtend<NodeRedisLike>()
    expectTypeOf<RedisClientPoolType>().toExtend<NodeRedisLike>()
    expectTypeOf<RedisSentinelType>().toExtend<NodeRedisLike>()
    expectTypeOf<RedisClusterType>().toExtend<NodeRedisLike>()
  })

  it('node-redis fits as its functions make it, with either protocol', () => {
    expectTypeOf<RedisClientType<{}, {}, {}, 2>>().toExtend<NodeRedisLike>()
    expectTypeOf<RedisClientType<{}, {}, {}, 3>>().toExtend<NodeRedisLike>()
    expectTypeOf<ReturnType<typeof createClient>>().toExtend<NodeRedisLike>()
    expectTypeOf<ReturnType<typeof createClientPool>>().toExtend<NodeRedisLike>()
    expectTypeOf<ReturnType<typeof createSentinel>>().toExtend<NodeRedisLike>()
    expectTypeOf<ReturnType<typeof createCluster>>().toExtend<NodeRedisLike>()
  })

  it('valkey-glide fits', () => {
    expectTypeOf<GlideClient>().toExtend<GlideLike>()
    expectTypeOf<GlideClusterClient>().toExtend<GlideLike>()
  })

  it('@upstash/redis fits', () => {
    expectTypeOf<UpstashRedis>().toExtend<UpstashLike>()
    expectTypeOf(redisStore).toBeCallableWith({} as UpstashRedis)
  })

  it('anything else does not', () => {
    expectTypeOf<Map<string, string>>().not.toExtend<RedisClient>()
    // @ts-expect-error a type that has none of these shapes
    expectTypeOf(redisStore).toBeCallableWith(new Map<string, string>())
  })
})

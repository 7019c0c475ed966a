// The settings of Redis clients that fit a limiter: no queue, nothing sent twice, soon connected again.
import type { Millis } from '../time/clock.ts'
import { reconnectDelay } from './reconnect-delay.ts'

/** Milliseconds after which an attempt to connect is given up. */
export const CONNECT_TIMEOUT: Millis = 2000

/**
 * The same for node-redis, which tells its strategy why an attempt failed: the next one begins at once. The store cannot
 * help a node of a cluster with a second connection, since node-redis reports the other nodes as ready.
 */
export const NODE_REDIS_CONNECT_TIMEOUT: Millis = 800

/** Milliseconds after which node-redis asks a cluster which node took over from one that is lost; its default is 5 s. */
const TOPOLOGY_REFRESH: Millis = 100

/** Milliseconds between two lookups of the primary by node-redis; by default it never looks it up. */
const SENTINEL_SCAN: Millis = 500

/**
 * What {@link ioredisOptions} sets.
 *
 * @example
 * ```ts
 * const settings: IoredisSettings = ioredisOptions()
 * const client = new Redis({ host: 'redis.internal', ...settings })
 * ```
 */
export interface IoredisSettings {
  enableOfflineQueue: false
  maxRetriesPerRequest: 0
  maxLoadingRetryTime: Millis
  connectTimeout: Millis
  retryStrategy: (attempt: number) => Millis
  sentinelRetryStrategy: (attempt: number) => Millis
}

/**
 * What {@link ioredisClusterOptions} sets.
 *
 * @example
 * ```ts
 * const settings: IoredisClusterSettings = ioredisClusterOptions()
 * const cluster = new Cluster(nodes, settings)
 * ```
 */
export interface IoredisClusterSettings {
  enableOfflineQueue: false
  clusterRetryStrategy: (attempt: number) => Millis
  redisOptions: IoredisSettings
}

/**
 * What {@link nodeRedisOptions} sets.
 *
 * @example
 * ```ts
 * const settings: NodeRedisSettings = nodeRedisOptions()
 * const client = createClient({ url: 'redis://redis.internal', ...settings })
 * ```
 */
export interface NodeRedisSettings {
  disableOfflineQueue: true
  socket: {
    connectTimeout: Millis
    reconnectStrategy: (retries: number, cause?: Error) => Millis
  }
}

/**
 * What {@link nodeRedisSentinelOptions} sets.
 *
 * @example
 * ```ts
 * const settings: NodeRedisSentinelSettings = nodeRedisSentinelOptions()
 * ```
 */
export interface NodeRedisSentinelSettings {
  scanInterval: Millis
  nodeClientOptions: NodeRedisSettings
}

/**
 * What {@link nodeRedisClusterOptions} sets.
 *
 * @example
 * ```ts
 * const settings: NodeRedisClusterSettings = nodeRedisClusterOptions()
 * const cluster = createCluster({ rootNodes, ...settings })
 * ```
 */
export interface NodeRedisClusterSettings {
  topologyRefreshOnReconnectionAttemptStrategy: Millis
  defaults: NodeRedisSettings
}

/**
 * What {@link upstashOptions} sets.
 *
 * @example
 * ```ts
 * const settings: UpstashSettings = upstashOptions()
 * ```
 */
export interface UpstashSettings {
  retry: { retries: 0 }
}

/**
 * Options for `new Redis(…)` of `@upstash/redis`: no request is made twice. `retry: false` of that client still makes a
 * second one. Your own options take precedence.
 *
 * @example
 * ```ts
 * import { Redis } from '@upstash/redis'
 *
 * const client = new Redis(upstashOptions({ url: 'https://eu1.upstash.io', token }))
 * const store = redisStore(client, { timeout: 500 })
 * ```
 */
export function upstashOptions<Own extends object = object>(own?: Own): UpstashSettings & Own {
  return { retry: { retries: 0 }, ...(own as Own) }
}

/**
 * Options for `new Redis(…)` of ioredis and iovalkey, for one server or Sentinel: commands fail at once while there is
 * no connection, none is sent twice, and the client tries to connect at least once a second. Your own options take
 * precedence.
 *
 * @example
 * ```ts
 * const client = new Redis(ioredisOptions({ host: 'redis.internal' }))
 * ```
 */
export function ioredisOptions<Own extends object = object>(own?: Own): IoredisSettings & Own {
  return {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // A server that loads its data estimates how long that takes, and ioredis would wait for up to 10 s.
    maxLoadingRetryTime: 500,
    connectTimeout: CONNECT_TIMEOUT,
    retryStrategy: reconnectDelay,
    sentinelRetryStrategy: reconnectDelay,
    ...(own as Own),
  }
}

/**
 * The second argument of `new Cluster(nodes, …)` of ioredis and iovalkey; `redisOptions` are completed too.
 *
 * @example
 * ```ts
 * const client = new Cluster(nodes, ioredisClusterOptions())
 * ```
 */
export function ioredisClusterOptions<Own extends object = object>(
  own?: Own,
): IoredisClusterSettings & Own {
  const { redisOptions }: { readonly redisOptions?: object } = own ?? {}
  return {
    enableOfflineQueue: false,
    clusterRetryStrategy: reconnectDelay,
    ...(own as Own),
    redisOptions: ioredisOptions(redisOptions),
  }
}

/**
 * Options for `createClient(…)` of node-redis; `socket` is completed, and your own options take precedence.
 *
 * @example
 * ```ts
 * const client = createClient(nodeRedisOptions({ url: 'redis://redis.internal' }))
 * ```
 */
export function nodeRedisOptions<Own extends object = object>(own?: Own): NodeRedisSettings & Own {
  const { socket }: { readonly socket?: object } = own ?? {}
  return {
    disableOfflineQueue: true,
    ...(own as Own),
    // A new object each time: node-redis writes the address of a URL into it.
    socket: {
      connectTimeout: NODE_REDIS_CONNECT_TIMEOUT,
      // An attempt that was given up has taken its time already.
      reconnectStrategy: (retries: number, cause?: Error) =>
        reconnectDelay(cause?.message === 'Connection timeout' ? 1 : retries + 1),
      ...socket,
    },
  }
}

/**
 * Options for `createSentinel(…)` of node-redis; `nodeClientOptions` are completed too.
 *
 * @example
 * ```ts
 * const client = createSentinel(nodeRedisSentinelOptions({ name: 'main', sentinelRootNodes }))
 * ```
 */
export function nodeRedisSentinelOptions<Own extends object = object>(
  own?: Own,
): NodeRedisSentinelSettings & Own {
  const { nodeClientOptions }: { readonly nodeClientOptions?: object } = own ?? {}
  return {
    scanInterval: SENTINEL_SCAN,
    ...(own as Own),
    nodeClientOptions: nodeRedisOptions(nodeClientOptions),
  }
}

/**
 * Options for `createCluster(…)` of node-redis; `defaults` are completed too.
 *
 * @example
 * ```ts
 * const client = createCluster(nodeRedisClusterOptions({ rootNodes }))
 * ```
 */
export function nodeRedisClusterOptions<Own extends object = object>(
  own?: Own,
): NodeRedisClusterSettings & Own {
  const { defaults }: { readonly defaults?: object } = own ?? {}
  return {
    topologyRefreshOnReconnectionAttemptStrategy: TOPOLOGY_REFRESH,
    ...(own as Own),
    defaults: nodeRedisOptions(defaults),
  }
}

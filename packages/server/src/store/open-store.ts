// Opens the store that the configuration names. It outlives every reload, and with it the counts.
import { createRequire } from 'node:module'
import { getHeapStatistics } from 'node:v8'
import type { Cluster, Redis } from 'ioredis'
import { memoryStore, type MemoryStore, type Millis, type RemoteStore, type Store } from 'sluice'
import { LeaseStats, withCoordination } from 'sluice/coordination'
import { ioredisClusterOptions, ioredisOptions, redisStore } from 'sluice/redis'
import { withResilience, type OnEvent } from 'sluice/resilience'
import type { FailureConfig, RedisStoreConfig, StoreConfig } from '../config/config.ts'
import type { Log } from '../log/log.ts'
import { RepeatedLog } from '../log/repeated-log.ts'
import type { KeySource } from './key-source.ts'
import { memoryKeys } from './memory-keys.ts'
import { redisKeySource } from './redis-keys.ts'
import { RedisServerInfo } from './redis-server-info.ts'

/** What the Redis client exports. */
interface Clients {
  readonly Cluster: typeof Cluster
  readonly Redis: typeof Redis
}

/** A store with what belongs to it. */
export interface OpenStore {
  readonly store: Store
  /** The same store when it is in this process. */
  readonly memory: MemoryStore | undefined
  /** The client and the prefix of all keys when it is Redis. */
  readonly redis?: {
    readonly client: Redis | Cluster
    readonly prefix: string
    /** Milliseconds that the configuration allows one call. */
    readonly timeout: Millis
  }
  /** The state of the Redis server. */
  readonly server?: RedisServerInfo
  /** What this process leases, when the store is Redis. */
  readonly leases?: LeaseStats
  /** Looks through its keys. */
  readonly keys: KeySource
  /** Resolves to true as soon as the store can be used, or to false after so many milliseconds. */
  ready(within: Millis): Promise<boolean>
  close(): Promise<void>
}

/** Opens the store without waiting for it: an unreachable Redis must not keep the service from starting. */
export function openStore(
  config: StoreConfig,
  log: Log,
  /** The part of this instance in rules that are `local`. */
  { replicas, fallbackShare }: FailureConfig = {},
): OpenStore {
  if (config.kind === 'memory') {
    const { maxKeys } = config
    const memory = memoryStore({ maxKeys, maxBytes: maxBytesFor(maxKeys) })
    return {
      store: memory,
      memory,
      keys: memoryKeys(memory),
      ready: async () => true,
      close: async () => memory.close(),
    }
  }
  const share = replicas === undefined ? { share: fallbackShare } : { replicas }
  return openRedis(config, log, share)
}

function openRedis(
  config: RedisStoreConfig,
  log: Log,
  { replicas, share }: { readonly replicas?: number; readonly share?: number | undefined },
): OpenStore {
  // Loaded here, since it takes a tenth of a start and only a store in Redis needs it.
  const { Cluster, Redis } = createRequire(import.meta.url)('ioredis') as Clients
  const client = config.cluster
    ? // A command that was lost with its node is sent again when its deadline is over, so that it does nothing.
      new Cluster(
        [config.url],
        ioredisClusterOptions({ retryDelayOnFailover: Math.max(100, config.timeout) }),
      )
    : new Redis(config.url, ioredisOptions())
  const warnings = new RepeatedLog(log)
  client.on('error', (error: Error) => {
    warnings.warn('redis-connection', { error: error.message }, 'no connection to Redis')
  })
  client.on('ready', () => log.info({}, 'connected to Redis'))
  const counts = redisStore(client, {
    prefix: config.prefix,
    timeout: config.timeout,
    onWarning: (warning) => log.warn({ ...warning }, 'a limit that Redis may not keep'),
  })
  // Closed before the client, so that leased units are given back.
  const leases = new LeaseStats()
  const store = withCoordination(counts, {
    stats: leases,
    ...(config.leaseLife !== undefined && { life: config.leaseLife }),
    ...(config.syncInterval !== undefined && { interval: config.syncInterval }),
    ...(replicas !== undefined && { replicas }),
    ...(share !== undefined && { share }),
  })
  const server = new RedisServerInfo(client)
  return {
    store,
    memory: undefined,
    server,
    leases,
    redis: { client, prefix: config.prefix, timeout: config.timeout },
    keys: redisKeySource(client, config.prefix),
    ready: (within) => readyWithin(client, within),
    close: async () => {
      server.close()
      await store.close()
      client.disconnect()
    },
  }
}

/** Waits for the first connection of a client. */
function readyWithin(client: Redis | Cluster, within: Millis): Promise<boolean> {
  if (client.status === 'ready') return Promise.resolve(true)
  return new Promise((resolve) => {
    const end = (isReady: boolean): void => {
      clearTimeout(timer)
      client.off('ready', onReady)
      resolve(isReady)
    }
    const onReady = (): void => end(true)
    const timer = setTimeout(() => end(false), within)
    client.on('ready', onReady)
  })
}

/**
 * A store that always answers: guarded once, so that one breaker and one fallback serve all decisions. A store in this
 * process needs no guard and is returned as it is.
 */
export function guardedStore(store: Store, failure: FailureConfig, onEvent: OnEvent): Store {
  if (store.sync === true) return store
  return withResilience(store as RemoteStore, { ...failure, onEvent })
}

const DEFAULT_MAX_BYTES = 56 * 1024 * 1024
const BYTES_PER_KEY = 56
const SHARE = 1 / 4

/**
 * Bytes for so many keys, at most a quarter of the heap limit. Counts live outside the heap, but a limit of the heap
 * is meant for the process: a container with `--max-old-space-size=96` has little room for anything else.
 */
export function maxBytesFor(
  maxKeys: number,
  heapLimit: number = getHeapStatistics().heap_size_limit,
): number {
  return Math.floor(
    Math.min(Math.max(DEFAULT_MAX_BYTES, BYTES_PER_KEY * maxKeys), heapLimit * SHARE),
  )
}

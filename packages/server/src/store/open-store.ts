// Opens the store that the configuration names. It outlives every reload, and with it the counts.
import { Cluster, Redis } from 'ioredis'
import { memoryStore, type MemoryStore, type Store } from 'sluice'
import { reconnectDelay, redisStore } from 'sluice/redis'
import type { RedisStoreConfig, StoreConfig } from '../config/config.ts'
import type { Log } from '../log/log.ts'
import { RepeatedLog } from '../log/repeated-log.ts'
import type { KeySource } from './key-source.ts'
import { memoryKeys } from './memory-keys.ts'
import { redisKeySource } from './redis-keys.ts'

/** A store with what belongs to it. */
export interface OpenStore {
  readonly store: Store
  /** The same store when it is in this process. */
  readonly memory: MemoryStore | undefined
  /** The client and the prefix of all keys when it is Redis. */
  readonly redis?: { readonly client: Redis | Cluster; readonly prefix: string }
  /** Looks through its keys. */
  readonly keys: KeySource
  close(): Promise<void>
}

/** Opens the store without waiting for it: a Redis that is away must not keep the service from starting. */
export function openStore(config: StoreConfig, log: Log): OpenStore {
  if (config.kind === 'memory') {
    const memory = memoryStore({ maxKeys: config.maxKeys })
    return { store: memory, memory, keys: memoryKeys(memory), close: async () => memory.close() }
  }
  return openRedis(config, log)
}

function openRedis(config: RedisStoreConfig, log: Log): OpenStore {
  // No queue: a call that waits for a connection would be charged long after its caller was answered.
  const client = config.cluster
    ? new Cluster([config.url], {
        enableOfflineQueue: false,
        clusterRetryStrategy: reconnectDelay,
        redisOptions: OPTIONS,
      })
    : new Redis(config.url, {
        ...OPTIONS,
        enableOfflineQueue: false,
        retryStrategy: reconnectDelay,
      })
  const warnings = new RepeatedLog(log)
  client.on('error', (error: Error) => {
    warnings.warn('redis-connection', { error: error.message }, 'no connection to Redis')
  })
  client.on('ready', () => log.info({}, 'connected to Redis'))
  const store = redisStore(client, {
    prefix: config.prefix,
    timeout: config.timeout,
    onWarning: (warning) => log.warn({ ...warning }, 'a limit that Redis may not keep'),
  })
  return {
    store,
    memory: undefined,
    redis: { client, prefix: config.prefix },
    keys: redisKeySource(client, config.prefix),
    close: async () => {
      await store.close()
      client.disconnect()
    },
  }
}

const OPTIONS = { maxRetriesPerRequest: 0, connectTimeout: 2000 }

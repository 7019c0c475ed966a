// The Redis clients of a pod, set up as the documentation advises.
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster, createSentinel } from 'redis'
import type { RedisClient } from '../../packages/sluice/src/redis/index.ts'
import type { Address } from '../servers/resp.ts'
import type { ClientKind, Target } from './orders.ts'

/** A client that connects by itself, now or when somebody is there. */
export interface Connected {
  readonly client: RedisClient
  readonly close: () => void
}

/** Again at once after a first loss; then about twice a second, each client at moments of its own. */
const retryDelay = (attempt: number): number =>
  attempt <= 1 ? Math.random() * 50 : 300 + Math.random() * 450

const ignore = (): void => {}
const plain = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  retryStrategy: retryDelay,
  // A server that loads its data guesses how long that takes, and ioredis would believe it.
  maxLoadingRetryTime: 500,
}
const ofNode = { disableOfflineQueue: true } as const
const reconnecting = { reconnectStrategy: (retries: number): number => retryDelay(retries + 1) }

/** Makes a client and does not wait for its connection. */
export function connectTo(kind: ClientKind, target: Target): Connected {
  return kind === 'ioredis' ? ioredis(target) : nodeRedis(target)
}

function ioredis(target: Target): Connected {
  const client = ioredisOf(target)
  client.on('error', ignore)
  return { client, close: () => client.disconnect() }
}

function ioredisOf(target: Target): Redis | Cluster {
  if (target.kind === 'one') return new Redis({ ...place(target.address), ...plain })
  if (target.kind === 'cluster') {
    return new Cluster(target.nodes.map(place), {
      enableOfflineQueue: false,
      redisOptions: plain,
      clusterRetryStrategy: retryDelay,
    })
  }
  const { name, sentinels } = target
  return new Redis({
    name,
    sentinels: sentinels.map(place),
    sentinelRetryStrategy: retryDelay,
    ...plain,
  })
}

function nodeRedis(target: Target): Connected {
  if (target.kind === 'one') {
    const socket = { ...place(target.address), ...reconnecting }
    const client = createClient({ socket, ...ofNode }).on('error', ignore)
    client.connect().catch(ignore)
    return { client, close: () => client.destroy() }
  }
  if (target.kind === 'cluster') {
    const rootNodes = target.nodes.map((node) => ({ socket: place(node) }))
    const defaults = { ...ofNode, socket: reconnecting }
    const client = createCluster({
      rootNodes,
      defaults,
      // Otherwise it asks who took over from a lost node after 5 s only.
      topologyRefreshOnReconnectionAttemptStrategy: 100,
    }).on('error', ignore)
    client.connect().catch(ignore)
    return { client, close: () => client.destroy() }
  }
  const client = createSentinel({
    name: target.name,
    sentinelRootNodes: target.sentinels.map(place),
    nodeClientOptions: { ...ofNode, socket: reconnecting },
    scanInterval: 500,
  }).on('error', ignore)
  client.connect().catch(ignore)
  return { client, close: () => void client.destroy() }
}

function place({ host, port }: Address): { host: string; port: number } {
  return { host, port }
}

// ioredis for a pod.
import { Cluster, Redis } from 'ioredis'
import { reconnectDelay } from '../../packages/sluice/src/redis/index.ts'
import type { Target } from './orders.ts'
import type { Connected } from './pod-clients.ts'
import { ignore, place } from './client-parts.ts'

const plain = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  retryStrategy: reconnectDelay,
  // A server that loads its data guesses how long that takes, and ioredis would believe it.
  maxLoadingRetryTime: 500,
}

/** A client of one server, a cluster or sentinels. */
export function ioredis(target: Target): Connected {
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
      clusterRetryStrategy: reconnectDelay,
    })
  }
  const { name, sentinels } = target
  return new Redis({
    name,
    sentinels: sentinels.map(place),
    sentinelRetryStrategy: reconnectDelay,
    ...plain,
  })
}

// node-redis for a pod.
import { createClient, createCluster, createSentinel } from 'redis'
import {
  nodeRedisClusterOptions,
  nodeRedisOptions,
  nodeRedisSentinelOptions,
} from '../../packages/sluice/src/redis/index.ts'
import type { Target } from './orders.ts'
import type { Connected } from './pod-clients.ts'
import { ignore, place } from './client-parts.ts'

/** A client of one server, a cluster or sentinels. */
export function nodeRedis(target: Target): Connected {
  const client = nodeRedisOf(target).on('error', ignore)
  client.connect().catch(ignore)
  return { client, close: () => void client.destroy() }
}

function nodeRedisOf(target: Target) {
  if (target.kind === 'one')
    return createClient(nodeRedisOptions({ socket: place(target.address) }))
  if (target.kind === 'cluster') {
    const rootNodes = target.nodes.map((node) => ({ socket: place(node) }))
    return createCluster(nodeRedisClusterOptions({ rootNodes }))
  }
  const { name, sentinels } = target
  return createSentinel(nodeRedisSentinelOptions({ name, sentinelRootNodes: sentinels.map(place) }))
}

// node-redis for a pod.
import { createClient, createCluster, createSentinel } from 'redis'
import { reconnectDelay } from '../../packages/sluice/src/redis/index.ts'
import type { Target } from './orders.ts'
import type { Connected } from './pod-clients.ts'
import { ignore, place } from './client-parts.ts'

const ofNode = { disableOfflineQueue: true } as const
const reconnecting = { reconnectStrategy: (retries: number): number => reconnectDelay(retries + 1) }

/** A client of one server, a cluster or sentinels. */
export function nodeRedis(target: Target): Connected {
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

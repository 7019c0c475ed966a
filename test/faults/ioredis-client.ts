// ioredis for a pod.
import { Cluster, Redis } from 'ioredis'
import { ioredisClusterOptions, ioredisOptions } from '../../packages/sluice/src/redis/index.ts'
import type { Target } from './orders.ts'
import type { Connected } from './pod-clients.ts'
import { ignore, place } from './client-parts.ts'

/** A client of one server, a cluster or sentinels. */
export function ioredis(target: Target, timeout: number): Connected {
  const client = ioredisOf(target, timeout)
  client.on('error', ignore)
  return { client, close: () => client.disconnect() }
}

function ioredisOf(target: Target, timeout: number): Redis | Cluster {
  if (target.kind === 'one') return new Redis(ioredisOptions(place(target.address)))
  if (target.kind === 'cluster')
    return new Cluster(
      target.nodes.map(place),
      ioredisClusterOptions({ retryDelayOnFailover: timeout }),
    )
  const { name, sentinels } = target
  return new Redis(ioredisOptions({ name, sentinels: sentinels.map(place) }))
}

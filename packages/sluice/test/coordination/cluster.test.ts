// Leases in a cluster: a replica that takes over leases nothing for one life, and unused slots lease at once.
import { Cluster } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCluster, type RedisCluster } from '../../../../test/servers/redis-cluster.ts'
import { until } from '../../../../test/servers/until.ts'
import { LeaseStats } from '../../src/coordination/lease-stats.ts'
import { withCoordination } from '../../src/coordination/with-coordination.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import type { Limiter } from '../../src/limiter/limiter.ts'
import { ioredisClusterOptions } from '../../src/redis/client-options.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import { slotOf, tagOfSlot } from '../../src/redis/slot.ts'
import { nothingUnhandled } from '../redis/asking.ts'

/** Less than a node is up by the time that the cluster has formed. */
const LIFE = 300
const PATIENCE = 20_000

let cluster: RedisCluster
let client: Cluster
nothingUnhandled()
beforeAll(async () => {
  cluster = await startCluster({ masters: 2, replicas: 1 })
  const [{ host, port }] = cluster.nodes as [(typeof cluster.nodes)[0]]
  client = new Cluster([{ host, port }], ioredisClusterOptions())
  client.on('error', () => {})
}, 60_000)
afterAll(async () => {
  client.disconnect()
  await cluster.stop()
})

/** How much of the writes of its group a node has. */
async function offsetOf(node: RedisCluster['nodes'][number]): Promise<string | undefined> {
  const info = await node.cli<string>('INFO', 'replication')
  return /master_repl_offset:(\d+)/.exec(info)?.[1]
}

function leasedLimiter(): Limiter {
  const store = withCoordination(redisStore(client, { timeout: 5000, onWarning: () => {} }), {
    life: LIFE,
  })
  const rule = { name: 'api', by: ['user'], limit: '1000/s', coordination: 'leased' } as const
  return createLimiter({
    policy: { name: 'p', rules: [{ ...rule, onStoreFailure: 'closed' }] },
    store,
    resilience: { onEvent: () => {}, breaker: { failures: 1_000_000 } },
  })
}

describe('leases in a cluster', () => {
  it('are granted at once in a slot that has leased nothing, and not for one life after a failover', async () => {
    const limiter = leasedLimiter()
    const nodeOf = (user: string): number => slotOf(`{${user}}`) >> 13
    const users = ['a', 'b', 'c', 'd', 'e', 'f']
    const one = users.find((user) => nodeOf(user) === 0)!
    const other = users.find((user) => nodeOf(user) === 1)!
    const fresh = users.findLast((user) => nodeOf(user) === 1)!
    expect(fresh).not.toBe(other)
    await until('the nodes are up for longer than a life', PATIENCE, async () => {
      const decisions = await Promise.all([one, other].map((user) => limiter.check({ user })))
      return decisions.every(({ allowed }) => allowed)
    })
    expect(await limiter.check({ user: fresh })).toMatchObject({ allowed: true, degraded: false })

    const replicas = cluster.nodes.slice(2)
    await until('the replicas have every write', PATIENCE, async () => {
      const offsets = await Promise.all(cluster.nodes.map(offsetOf))
      return offsets[0] === offsets[2] && offsets[1] === offsets[3]
    })
    for (const replica of replicas) await replica.cli('CLUSTER', 'FAILOVER', 'TAKEOVER')
    for (const user of [one, other]) {
      const causes = new Set<string | undefined>()
      await until('the new primary has learned', PATIENCE, async () => {
        const { allowed, cause } = await limiter.check({ user })
        causes.add(cause)
        return allowed && causes.has('store-learning')
      })
    }
    await limiter.close()
  })
})

describe('synced counts in a cluster', () => {
  it('are sent to each shard, and come together there', async () => {
    const users = ['a', 'b', 'c', 'd', 'e', 'f']
    const stats = new LeaseStats()
    const rule = { name: 'synced', by: ['user'], limit: '1000/h', coordination: 'synced' } as const
    const limiter = createLimiter({
      policy: { name: 'p', rules: [rule] },
      store: withCoordination(redisStore(client, { timeout: 5000, onWarning: () => {} }), {
        stats,
      }),
      resilience: { onEvent: () => {}, breaker: { failures: 1_000_000 } },
    })
    let requests = 0
    await until('each shard has answered, and flushes were booked', PATIENCE, async () => {
      const decisions = await Promise.all(users.map((user) => limiter.check({ user })))
      if (decisions.some(({ degraded }) => degraded)) return false
      requests += 1
      return stats.flushes > 100
    })
    expect(stats.failedFlushes).toBe(0)
    expect(stats.switches.synced).toBeGreaterThanOrEqual(users.length)
    await limiter.close()
    const fresh = createLimiter({
      policy: { name: 'p', rules: [rule] },
      store: withCoordination(redisStore(client, { timeout: 5000, onWarning: () => {} })),
      resilience: { onEvent: () => {} },
    })
    for (const user of users)
      expect((await fresh.peek({ user })).remaining).toBeLessThanOrEqual(1000 - requests + 1)
    await fresh.close()
  })
})

describe('the tag of a slot', () => {
  it('is a short one in that slot', () => {
    for (const slot of [0, 1, 5460, 5461, 16_383]) {
      const tag = tagOfSlot(slot)
      expect(slotOf(`sl:{${tag}}leases`)).toBe(slot)
      expect(tag.length).toBeLessThanOrEqual(6)
      expect(tagOfSlot(slot)).toBe(tag)
    }
  })
})

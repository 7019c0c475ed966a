// Servers for recorded histories, each with what goes wrong with it: replies that are lost, and primaries that change
// without losing a write. After a failover that loses writes, no order explains a history.
import { Cluster, Redis } from 'ioredis'
import { onTestFinished } from 'vitest'
import { type FaultProxy, startProxy } from '../../../../test/faults/fault-proxy.ts'
import { randomFrom } from '../../../../test/faults/random.ts'
import { lengthOf } from '../../../../test/length.ts'
import { startCluster } from '../../../../test/servers/redis-cluster.ts'
import { type RedisSentinel, startSentinel } from '../../../../test/servers/redis-sentinel.ts'
import { type RedisServer, startRedis } from '../../../../test/servers/redis-server.ts'
import type { Address } from '../../../../test/servers/resp.ts'
import { until } from '../../../../test/servers/until.ts'
import { ioredisClusterOptions, ioredisOptions } from '../../src/redis/index.ts'

/** Servers that stay up until the test ends. */
export interface HistoryPlace {
  readonly connect: () => Redis | Cluster
  /** The replies on their way are lost, and their connections reset. */
  readonly loseReplies: () => void
  /** Another server takes over, with every write of the one before; resolves when it has. */
  readonly changePrimary?: (slot: number) => Promise<void>
}

const PATIENCE = 20_000

const place = ({ host, port }: Address): Address => ({ host, port })

/** A proxy in front of each server, and the addresses that clients use in place of the servers' own. */
async function proxied(servers: readonly RedisServer[]) {
  const proxies: FaultProxy[] = []
  for (const server of servers) proxies.push(await startProxy(server, randomFrom(1)))
  onTestFinished(async () => {
    for (const proxy of proxies) await proxy.stop()
  })
  const natMap = Object.fromEntries(
    servers.map(({ host, port }, i) => [`${host}:${port}`, place(proxies[i]!)]),
  )
  const loseReplies = (): void => {
    for (const proxy of proxies) proxy.breakReplies('lose')
  }
  return { proxies, natMap, loseReplies }
}

/** Every place, by what happens there. */
export const historyPlaces: Readonly<Record<string, () => Promise<HistoryPlace>>> = {
  'one server whose replies are lost': async () => {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    const { proxies, loseReplies } = await proxied([server])
    return { connect: () => new Redis(ioredisOptions(place(proxies[0]!))), loseReplies }
  },
  'a primary behind sentinels that is replaced while replies are lost': async () => {
    const group = await startSentinel()
    onTestFinished(() => group.stop())
    const { natMap, loseReplies } = await proxied(group.servers)
    const sentinels = group.sentinels.map(place)
    const options = ioredisOptions({ name: group.name, sentinels, natMap })
    return {
      connect: () => new Redis(options),
      loseReplies,
      changePrimary: () => handOver(group),
    }
  },
  'a cluster whose masters are replaced while replies are lost': async () => {
    // Masters vote for a replica of the same master again only after twice this time; long walks need that.
    const nodeTimeout = lengthOf(60_000, 10_000)
    const cluster = await startCluster({ replicas: 1, nodeTimeout })
    onTestFinished(() => cluster.stop())
    const { natMap, loseReplies } = await proxied(cluster.nodes)
    const nodes = cluster.nodes.map(({ host, port }) => natMap[`${host}:${port}`]!)
    // The client sends nothing again: within so long a deadline, that would be charged twice.
    const retryDelayOnFailover = 0
    return {
      connect: () => new Cluster(nodes, ioredisClusterOptions({ natMap, retryDelayOnFailover })),
      loseReplies,
      async changePrimary(slot) {
        const old = await cluster.nodeFor(slot)
        const replica = await until('it has a replica', PATIENCE, async () => {
          const [role, , replicas] = await old.cli<[string, number, string[][]]>('ROLE')
          if (role !== 'master') return undefined
          const ports = replicas.map(([, port]) => Number(port))
          return cluster.nodes.find(({ port }) => ports.includes(port))
        })
        // The master holds its clients until the replica has all of its writes.
        await insist(
          'the replica has the slot',
          () => replica.cli('CLUSTER', 'FAILOVER'),
          async () => (await cluster.nodeFor(slot)) === replica,
        )
      },
    }
  },
}

/** Longer than a server tries one manual failover, which it gives up without a word. */
const GIVEN_UP = 6000

/** Asks for a change, and again if it was given up, until it has happened. */
async function insist(
  what: string,
  ask: () => Promise<unknown>,
  hasHappened: () => Promise<boolean>,
): Promise<void> {
  let asked = -Infinity
  await until(what, PATIENCE, async () => {
    if (await hasHappened()) return true
    if (performance.now() - asked < GIVEN_UP) return false
    await ask()
    asked = performance.now()
    return false
  })
}

/** As an operator plans it: writes are held, the replica catches up, the sentinels promote it. */
async function handOver(group: RedisSentinel): Promise<void> {
  const old = await group.primary()
  const next = group.servers.find((server) => server !== old)!
  await old.cli('CLIENT', 'PAUSE', '60000', 'WRITE')
  await until('the replica has all writes', PATIENCE, async () => {
    const offsetOf = async (server: RedisServer) =>
      /master_repl_offset:(\d+)/.exec(await server.cli('INFO', 'replication'))![1]
    return (await offsetOf(old)) === (await offsetOf(next))
  })
  await insist(
    'the other one is the primary',
    () => group.sentinels[0]!.cli('SENTINEL', 'FAILOVER', group.name),
    async () => (await group.primary()) === next,
  )
  // The sentinels would do this too, after eight seconds or more.
  await old.cli('REPLICAOF', next.host, `${next.port}`)
  await old.cli('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  await old.cli('CLIENT', 'UNPAUSE')
  await until('the old one is its replica', PATIENCE, async () =>
    (await old.cli('INFO', 'replication')).includes('master_link_status:up'),
  )
}

// The servers of scenarios: one, one behind the fault proxy or in a network of its own, a cluster, a primary with sentinels.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RedisCluster, startCluster, type ClusterOptions } from '../servers/redis-cluster.ts'
import { type RedisSentinel, startSentinel } from '../servers/redis-sentinel.ts'
import { type RedisOptions, type RedisServer, startRedis } from '../servers/redis-server.ts'
import { until } from '../servers/until.ts'
import { type FaultProxy, startProxy } from './fault-proxy.ts'
import { type Network, startNetwork } from './network.ts'
import type { Target } from './orders.ts'
import { randomFrom } from './random.ts'
import type { Occasion, Scenario } from './scenario.ts'

type Open = Scenario['open']
type FaultOn<Servers> = (servers: Servers, occasion: Occasion) => Promise<void>

/** One server, reached directly; `prepare` runs before any pod is there. */
export function onServer(
  fault: FaultOn<RedisServer>,
  options: RedisOptions = {},
  prepare: (server: RedisServer) => void = () => {},
): Open {
  return async () => {
    const server = await startRedis(options)
    prepare(server)
    const target: Target = { kind: 'one', address: { host: server.host, port: server.port } }
    return {
      target,
      truth: async () => target,
      fault: (occasion) => fault(server, occasion),
      stop: server.stop,
    }
  }
}

/** One server behind the fault proxy; `prepare` runs before any pod is there. */
export function throughProxy(
  fault: FaultOn<{ server: RedisServer; proxy: FaultProxy; random: () => number }>,
  prepare: (proxy: FaultProxy) => Promise<void> = async () => {},
): Open {
  return async (seed) => {
    const random = randomFrom(seed)
    const server = await startRedis()
    const proxy = await startProxy(server, random)
    await prepare(proxy)
    return {
      target: { kind: 'one', address: { host: proxy.host, port: proxy.port } },
      truth: async () => ({ kind: 'one', address: { host: server.host, port: server.port } }),
      fault: (occasion) => fault({ server, proxy, random }, occasion),
      async stop() {
        await proxy.stop()
        await server.stop()
      },
    }
  }
}

/** A primary and its replica, and a name that means the primary until it is moved: connections that stand stay where they are. */
export function behindName(
  fault: FaultOn<{ primary: RedisServer; replica: RedisServer; move: () => void }>,
): Open {
  return async () => {
    const [primary, replica] = await Promise.all([startRedis(), startRedis()])
    await replica.cli('REPLICAOF', primary.host, `${primary.port}`)
    await until('it is a replica', 20_000, async () =>
      (await replica.cli('INFO', 'replication')).includes('master_link_status:up'),
    )
    const named = { host: primary.host, port: primary.port }
    const proxy = await startProxy(named)
    const move = (): void => void (named.port = replica.port)
    return {
      target: { kind: 'one', address: { host: proxy.host, port: proxy.port } },
      truth: async () => ({ kind: 'one', address: { host: replica.host, port: replica.port } }),
      fault: (occasion) => fault({ primary, replica, move }, occasion),
      async stop() {
        await proxy.stop()
        await Promise.all([primary.stop(), replica.stop()])
      },
    }
  }
}

/** One server on another host of a network. */
export function onNetwork(fault: FaultOn<Network>): Open {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-network-'))
    const socket = join(folder, 'redis.sock')
    const server = await startRedis({ args: ['--unixsocket', socket] })
    const network = await startNetwork(socket)
    return {
      target: { kind: 'one', address: network.address },
      truth: async () => ({ kind: 'one', address: { host: server.host, port: server.port } }),
      fault: (occasion) => fault(network, occasion),
      execPath: network.execPath,
      async stop() {
        network.stop()
        await server.stop()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  }
}

/** A cluster. */
export function onCluster(options: ClusterOptions, fault: FaultOn<RedisCluster>): Open {
  return async () => {
    const cluster = await startCluster(options)
    const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }))
    return {
      target: { kind: 'cluster', nodes },
      truth: async () => ({ kind: 'cluster', nodes }),
      fault: (occasion) => fault(cluster, occasion),
      stop: cluster.stop,
    }
  }
}

/** A primary, a replica and three sentinels. */
export function onSentinel(fault: FaultOn<RedisSentinel>): Open {
  return async () => {
    const group = await startSentinel()
    const sentinels = group.sentinels.map(({ host, port }) => ({ host, port }))
    return {
      target: { kind: 'sentinel', name: group.name, sentinels },
      async truth() {
        const { host, port } = await group.primary()
        return { kind: 'one', address: { host, port } }
      },
      fault: (occasion) => fault(group, occasion),
      stop: group.stop,
    }
  }
}

// The first checks of a process, made before its client has connected to a healthy server.
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster, createSentinel } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../../../test/servers/ports.ts'
import { type RedisCluster, startCluster } from '../../../../test/servers/redis-cluster.ts'
import { type RedisSentinel, startSentinel } from '../../../../test/servers/redis-sentinel.ts'
import { type RedisServer, startRedis } from '../../../../test/servers/redis-server.ts'
import { createLimiter, type Limiter } from '../../src/index.ts'
import { redisStore, type RedisClient } from '../../src/redis/index.ts'

let server: RedisServer
let cluster: RedisCluster
let sentinel: RedisSentinel
beforeAll(async () => {
  ;[server, cluster, sentinel] = await Promise.all([startRedis(), startCluster(), startSentinel()])
}, 60_000)
afterAll(async () => {
  await Promise.all([server.stop(), cluster.stop(), sentinel.stop()])
})

/** A client that has just been made, and how to end it. */
interface Starting {
  readonly client: RedisClient
  readonly close: () => unknown
}

const ignore = (): void => {}
const noQueue = { enableOfflineQueue: false, maxRetriesPerRequest: 0 } as const
const addresses = (all: readonly { host: string; port: number }[]) =>
  all.map(({ host, port }) => ({ host, port }))

const starting: Readonly<Record<string, () => Starting>> = {
  ioredis: () => {
    const client = new Redis(server.url, noQueue).on('error', ignore)
    return { client, close: () => client.disconnect() }
  },
  'ioredis that connects with its first command': () => {
    const client = new Redis(server.url, { ...noQueue, lazyConnect: true }).on('error', ignore)
    return { client, close: () => client.disconnect() }
  },
  'ioredis by sentinels': () => {
    const { name, sentinels } = sentinel
    const options = { name, sentinels: addresses(sentinels), ...noQueue }
    const client = new Redis(options).on('error', ignore)
    return { client, close: () => client.disconnect() }
  },
  'ioredis of a cluster': () => {
    const client = new Cluster(addresses(cluster.nodes), {
      enableOfflineQueue: false,
      redisOptions: noQueue,
      // Otherwise the client itself sends again what a node that was still connecting did not get.
      retryDelayOnFailover: 0,
    }).on('error', ignore)
    return { client, close: () => client.disconnect() }
  },
  'node-redis': () => {
    const client = createClient({ url: server.url, disableOfflineQueue: true }).on('error', ignore)
    client.connect().catch(ignore)
    return { client, close: () => client.destroy() }
  },
  'node-redis by sentinels': () => {
    const client = createSentinel({
      name: sentinel.name,
      sentinelRootNodes: addresses(sentinel.sentinels),
      nodeClientOptions: { disableOfflineQueue: true },
    }).on('error', ignore)
    client.connect().catch(ignore)
    return { client, close: () => client.destroy() }
  },
  'node-redis of a cluster': () => {
    const client = createCluster({
      rootNodes: addresses(cluster.nodes).map((socket) => ({ socket })),
      defaults: { disableOfflineQueue: true },
    }).on('error', ignore)
    client.connect().catch(ignore)
    return { client, close: () => client.destroy() }
  },
}

const PATIENT = 20_000

function limiterOn(client: RedisClient, timeout: number): Limiter {
  return createLimiter({ limit: '3/day', store: redisStore(client, { timeout }) })
}

describe.each(Object.keys(starting))('a client of %s that has never been connected', (kind) => {
  it('holds the first checks until it is, so that the store decides them', async () => {
    const { client, close } = starting[kind]!()
    const limiter = limiterOn(client, PATIENT)
    const checks = Array.from({ length: 8 }, () => limiter.check(kind))
    const decisions = await Promise.all(checks)
    expect(decisions.map(({ degraded }) => degraded)).toEqual(decisions.map(() => false))
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(3)
    await limiter.close()
    await close()
  })
})

it.each(['ioredis of a cluster', 'node-redis of a cluster'])(
  'a client of %s holds the first checks until each node is connected',
  async (kind) => {
    const { client, close } = starting[kind]!()
    const limiter = limiterOn(client, PATIENT)
    const keys = Array.from({ length: 200 }, (_, i) => `${kind} ${i}`)
    const decisions = await Promise.all(keys.map((key) => limiter.check(key)))
    expect(decisions.filter(({ degraded }) => degraded)).toEqual([])
    await limiter.close()
    await close()
  },
)

describe('a client that never connects', () => {
  it.each<[string, (port: number) => Starting]>([
    [
      'ioredis',
      (port) => {
        const client = new Redis({ port, ...noQueue }).on('error', ignore)
        return { client, close: () => client.disconnect() }
      },
    ],
    [
      'node-redis',
      (port) => {
        const socket = { host: '127.0.0.1', port }
        const client = createClient({ socket, disableOfflineQueue: true }).on('error', ignore)
        client.connect().catch(ignore)
        return { client, close: () => client.destroy() }
      },
    ],
  ])('of %s holds a check no longer than the deadline', async (_, make) => {
    const { client, close } = make(await freePort())
    const limiter = limiterOn(client, 50)
    const { degraded, cause } = await limiter.check('somebody')
    expect([degraded, cause]).toEqual([true, 'store-timeout'])
    await limiter.close()
    close()
  })

  it('of node-redis fails at once when connect() was not called', async () => {
    const client = createClient({ url: server.url, disableOfflineQueue: true }).on('error', ignore)
    const limiter = limiterOn(client, PATIENT)
    const { degraded, cause } = await limiter.check('somebody')
    expect([degraded, cause]).toEqual([true, 'store-unreachable'])
    await limiter.close()
  })
})

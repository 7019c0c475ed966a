// The clients as users set them up, connected to the servers of a test.
import { Redis as Upstash } from '@upstash/redis'
import { GlideClient, GlideClusterClient, Logger } from '@valkey/valkey-glide'
import { Cluster as IoredisCluster, Redis as Ioredis } from 'ioredis'
import { Cluster as IovalkeyCluster, Redis as Iovalkey } from 'iovalkey'
import { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import type { RedisSentinel } from '../../../../test/servers/redis-sentinel.ts'
import type { Address } from '../../../../test/servers/resp.ts'
import { startUpstash } from '../../../../test/servers/upstash-server.ts'
import { upstashOptions, type RedisClient } from '../../src/redis/index.ts'

Logger.init('off')

/** A connected client, and how to let go of it. */
export interface Connected {
  readonly client: RedisClient
  readonly close: () => void | Promise<void>
}

/** Connects one kind of client to something. */
export type Connect<Target> = (target: Target) => Promise<Connected>

/** What the clients of ioredis and iovalkey tell when they cannot reach the server; their calls reject all the same. */
const ignore = (): void => {}

const plain = { enableOfflineQueue: false, maxRetriesPerRequest: 0 } as const

/** The clients for one server. */
export const standalone: Readonly<Record<string, Connect<Address>>> = {
  ioredis: async ({ host, port }) => {
    const client = new Ioredis({ host, port, ...plain, lazyConnect: true }).on('error', ignore)
    await client.connect()
    return { client, close: () => client.disconnect() }
  },
  iovalkey: async ({ host, port }) => {
    const client = new Iovalkey({ host, port, ...plain, lazyConnect: true }).on('error', ignore)
    await client.connect()
    return { client, close: () => client.disconnect() }
  },
  'node-redis': async ({ host, port }) => {
    const client = createClient({ socket: { host, port }, disableOfflineQueue: true })
    await client.on('error', ignore).connect()
    return { client, close: () => client.destroy() }
  },
  'node-redis with RESP 2': async ({ host, port }) => {
    const client = createClient({ socket: { host, port }, RESP: 2, disableOfflineQueue: true })
    await client.on('error', ignore).connect()
    return { client, close: () => client.destroy() }
  },
  'a pool of node-redis': async ({ host, port }) => {
    const client = createClientPool({ socket: { host, port } }, { minimum: 1, maximum: 2 })
    await client.on('error', ignore).connect()
    return { client, close: () => client.destroy() }
  },
  'valkey-glide': async ({ host, port }) => {
    const client = await GlideClient.createClient({
      addresses: [{ host, port }],
      requestTimeout: 10_000,
    })
    return { client, close: () => client.close() }
  },
  '@upstash/redis': async (address) => {
    const server = await startUpstash(address)
    const { url, token } = server
    const client = new Upstash(upstashOptions({ url, token, enableTelemetry: false }))
    return { client, close: () => server.stop() }
  },
}

/** The clients for a cluster. */
export const cluster: Readonly<Record<string, Connect<readonly Address[]>>> = {
  ioredis: async (nodes) => {
    const options = { enableOfflineQueue: false, lazyConnect: true, redisOptions: plain }
    const client = new IoredisCluster(addresses(nodes), options).on('error', ignore)
    await client.connect()
    return { client, close: () => client.disconnect() }
  },
  iovalkey: async (nodes) => {
    const options = { enableOfflineQueue: false, lazyConnect: true, redisOptions: plain }
    const client = new IovalkeyCluster(addresses(nodes), options).on('error', ignore)
    await client.connect()
    return { client, close: () => client.disconnect() }
  },
  'node-redis': async (nodes) => {
    const rootNodes = addresses(nodes).map((socket) => ({ socket }))
    const client = createCluster({ rootNodes, defaults: { disableOfflineQueue: true } })
    await client.on('error', ignore).connect()
    return { client, close: () => client.destroy() }
  },
  'valkey-glide': async (nodes) => {
    const client = await GlideClusterClient.createClient({
      addresses: addresses(nodes),
      requestTimeout: 10_000,
    })
    return { client, close: () => client.close() }
  },
}

/** The clients that ask sentinels for the primary. */
export const sentinel: Readonly<Record<string, Connect<RedisSentinel>>> = {
  ioredis: async ({ name, sentinels }) => {
    const options = { name, sentinels: addresses(sentinels), ...plain, lazyConnect: true }
    const client = new Ioredis(options).on('error', ignore)
    await client.connect()
    return { client, close: () => client.disconnect() }
  },
  iovalkey: async ({ name, sentinels }) => {
    const options = { name, sentinels: addresses(sentinels), ...plain, lazyConnect: true }
    const client = new Iovalkey(options).on('error', ignore)
    await client.connect()
    return { client, close: () => client.disconnect() }
  },
  'node-redis': async ({ name, sentinels }) => {
    const client = createSentinel({
      name,
      sentinelRootNodes: addresses(sentinels),
      nodeClientOptions: { disableOfflineQueue: true },
    })
    await client.on('error', ignore).connect()
    return { client, close: () => client.destroy() }
  },
}

function addresses(servers: readonly Address[]): { host: string; port: number }[] {
  return servers.map(({ host, port }) => ({ host, port }))
}

import { Redis as Upstash } from '@upstash/redis'
import { Cluster, Redis } from 'ioredis'
import { Redis as Iovalkey } from 'iovalkey'
import {
  ConnectionTimeoutError,
  createClient,
  createClientPool,
  createCluster,
  createSentinel,
} from 'redis'
import { describe, expect, it } from 'vitest'
import {
  ioredisClusterOptions,
  ioredisOptions,
  nodeRedisClusterOptions,
  nodeRedisOptions,
  nodeRedisSentinelOptions,
  upstashOptions,
} from './client-options.ts'
import { createLimiter } from '../limiter/create-limiter.ts'
import type { RedisClient } from './client.ts'
import { redisStore, type RedisStoreOptions } from './redis-store.ts'
import type { StoreWarning } from './warnings.ts'

/** None of these clients connects: they are only looked at. */
const lazyConnect = true
const nodes = [{ host: '127.0.0.1', port: 1 }]
const rootNodes = nodes.map((socket) => ({ socket }))

const rest = { url: 'http://127.0.0.1:1', token: 'token' }

function warningsOf(client: RedisClient, options: RedisStoreOptions = {}): string[] {
  const codes: string[] = []
  redisStore(client, { onWarning: ({ code }) => void codes.push(code), ...options })
  return codes
}

describe('the options of sluice/redis', () => {
  it.each<[string, RedisClient]>([
    ['ioredis', new Redis(ioredisOptions({ lazyConnect }))],
    ['ioredis with a URL', new Redis('redis://127.0.0.1:1', ioredisOptions({ lazyConnect }))],
    ['ioredis, Sentinel', new Redis(ioredisOptions({ lazyConnect, name: 'm', sentinels: nodes }))],
    ['ioredis, Cluster', new Cluster(nodes, ioredisClusterOptions({ lazyConnect }))],
    ['iovalkey', new Iovalkey(ioredisOptions({ lazyConnect }))],
    ['node-redis', createClient(nodeRedisOptions())],
    ['node-redis with a URL', createClient(nodeRedisOptions({ url: 'redis://127.0.0.1:1' }))],
    [
      'node-redis, Sentinel',
      createSentinel(nodeRedisSentinelOptions({ name: 'm', sentinelRootNodes: nodes })),
    ],
    ['node-redis, Cluster', createCluster(nodeRedisClusterOptions({ rootNodes }))],
    ['a pool of node-redis', createClientPool(nodeRedisOptions())],
    ['@upstash/redis', new Upstash(upstashOptions(rest))],
  ])('fit %s: no warning', (_, client) => {
    expect(warningsOf(client)).toEqual([])
  })

  it('give way to your own, in nested objects too', () => {
    const socket = { host: 'redis', connectTimeout: 5 }
    const made = nodeRedisOptions({ socket, database: 3, disableOfflineQueue: false })
    expect(made).toMatchObject({ socket, database: 3, disableOfflineQueue: false })
    expect(made.socket.reconnectStrategy(0)).toBeLessThan(1000)
    expect(ioredisOptions({ db: 3, connectTimeout: 5 })).toMatchObject({ db: 3, connectTimeout: 5 })
    const redisOptions = { password: 'p' }
    expect(ioredisClusterOptions({ redisOptions }).redisOptions).toMatchObject({
      password: 'p',
      enableOfflineQueue: false,
    })
  })

  it('give up an attempt to reach a node of a cluster, and begin the next one, within a second', () => {
    const { connectTimeout, reconnectStrategy } = nodeRedisClusterOptions().defaults.socket
    for (const retries of [0, 1, 20]) {
      const delay = reconnectStrategy(retries, new ConnectionTimeoutError())
      expect(connectTimeout + delay).toBeLessThan(900)
    }
    // One that was refused has taken no time: the next one waits for its turn.
    expect(reconnectStrategy(20, new Error('connect ECONNREFUSED'))).toBeGreaterThanOrEqual(880)
    const own = { defaults: { password: 'p', socket: { connectTimeout: 5000 } } }
    expect(nodeRedisClusterOptions(own).defaults).toMatchObject(own.defaults)
  })

  it('are new objects each time, since node-redis writes addresses into them', () => {
    const first = createClient(nodeRedisOptions({ url: 'redis://first:1' }))
    const second = createClient(nodeRedisOptions({ url: 'redis://second:2' }))
    expect(first.options.socket).toMatchObject({ host: 'first', port: 1 })
    expect(second.options.socket).toMatchObject({ host: 'second', port: 2 })
  })
})

describe('redisStore warns of a client', () => {
  it.each<[string, RedisClient, string[]]>([
    ['of ioredis', new Redis({ lazyConnect }), ['client-queues', 'client-resends']],
    [
      'of ioredis that only resends',
      new Redis({ lazyConnect, enableOfflineQueue: false }),
      ['client-resends'],
    ],
    [
      'of ioredis that only queues',
      new Redis({ lazyConnect, maxRetriesPerRequest: 0 }),
      ['client-queues'],
    ],
    ['of ioredis, Cluster', new Cluster(nodes, { lazyConnect }), ['client-queues']],
    ['of iovalkey', new Iovalkey({ lazyConnect }), ['client-queues', 'client-resends']],
    ['of node-redis', createClient(), ['client-queues']],
    ['of @upstash/redis', new Upstash(rest), ['client-resends']],
    [
      'of @upstash/redis that retries once',
      new Upstash({ ...rest, retry: false }),
      ['client-resends'],
    ],
  ])('%s', (_, client, codes) => {
    expect(warningsOf(client)).toEqual(codes)
  })

  it('of a cluster that resends before the deadline is over, with what to set', () => {
    const timeout = 400
    const messages: string[] = []
    const onWarning = ({ message }: StoreWarning) => void messages.push(message)
    redisStore(new Cluster(nodes, ioredisClusterOptions({ lazyConnect })), { timeout, onWarning })
    expect(messages).toEqual([
      expect.stringMatching(/retryDelayOnFailover to the timeout of the store, 400 ms, or more$/),
    ])
    const set = ioredisClusterOptions({ lazyConnect, retryDelayOnFailover: timeout })
    expect(warningsOf(new Cluster(nodes, set), { timeout })).toEqual([])
  })

  it('of node-redis that is not open, at the first call', async () => {
    const codes: string[] = []
    const onWarning = ({ code }: StoreWarning) => void codes.push(code)
    const store = redisStore(createClient(nodeRedisOptions()), { onWarning })
    const resilience = { onEvent: () => {} }
    const limiter = createLimiter({ limit: '100/min', store, resilience })
    expect(codes).toEqual([])
    expect((await limiter.check('a')).degraded).toBe(true)
    await limiter.check('a')
    expect(codes).toEqual(['client-not-open'])
    await limiter.close()
  })

  it('once, however many stores use it', () => {
    const client = new Redis({ lazyConnect })
    expect([warningsOf(client).length, warningsOf(client).length]).toEqual([2, 0])
  })
})

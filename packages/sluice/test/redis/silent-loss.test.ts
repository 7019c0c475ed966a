// Connections that die without a reset: the client waits for ever, so the store opens a second connection.
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest'
import { type FaultProxy, startProxy } from '../../../../test/faults/fault-proxy.ts'
import { type RedisServer, startRedis } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { createLimiter, type AsyncStore, type Limiter } from '../../src/index.ts'
import { ioredisOptions, nodeRedisOptions, redisStore } from '../../src/redis/index.ts'
import type { RedisClient } from '../../src/redis/index.ts'
import { nothingUnhandled } from './asking.ts'

const ignore = (): void => {}
const TIMEOUT = 100

let server: RedisServer
let proxy: FaultProxy
nothingUnhandled()
beforeAll(async () => {
  server = await startRedis()
}, 30_000)
afterAll(() => server.stop())
beforeEach(async () => {
  proxy = await startProxy(server)
})
afterEach(() => proxy.stop())

/** A client of the proxy, and how its owner ends it. */
interface Owned {
  readonly client: RedisClient
  readonly close: () => void
}

const kinds: Readonly<Record<string, (port: number) => Owned>> = {
  ioredis: (port) => {
    const client = new Redis(ioredisOptions({ port })).on('error', ignore)
    return { client, close: () => client.disconnect() }
  },
  'ioredis with its own defaults': (port) => {
    const client = new Redis({ port }).on('error', ignore)
    return { client, close: () => client.disconnect() }
  },
  'node-redis': (port) => {
    const socket = { host: '127.0.0.1', port }
    const client = createClient(nodeRedisOptions({ socket })).on('error', ignore)
    client.connect().catch(ignore)
    return { client, close: () => client.destroy() }
  },
}

describe.each(Object.keys(kinds))('through a client of %s', (kind) => {
  let owned: Owned
  let store: AsyncStore
  let limiter: Limiter
  let count = 0
  const isAnswered = async (): Promise<boolean> =>
    !(await limiter.check(`${(count += 1)}`)).degraded
  /** Resolves to true when the store answers again. */
  const isBack = (): Promise<boolean> => until('the store answers', 10_000, isAnswered)
  const isAlone = (): Promise<boolean> =>
    until('the store answers through the client alone', 10_000, async () => {
      const isWell = await isAnswered()
      return isWell && proxy.open === 1
    })
  const isDegraded = async (): Promise<boolean> => !(await isAnswered())
  beforeEach(async () => {
    owned = kinds[kind]!(proxy.port)
    store = redisStore(owned.client, { timeout: TIMEOUT, onWarning: ignore })
    limiter = createLimiter({ limit: '10/min', store })
    await isBack()
  })
  afterEach(async () => {
    await limiter.close()
    owned.close()
  })

  it('a dead connection is replaced, and the client is used again once it has a new one', async () => {
    proxy.forsake()
    await until('the connection is dead', 10_000, isDegraded)
    await isBack()
    expect(proxy.open).toBeGreaterThan(1)
    proxy.reset()
    expect(await isAlone()).toBe(true)
  }, 60_000)

  it('a connection that is made while packets are lost does not delay the next ones', async () => {
    proxy.losePackets(true)
    await until('nothing arrives', 10_000, isDegraded)
    const from = proxy.accepted.length
    await until('several connections were tried', 10_000, async () => {
      await isAnswered()
      return proxy.accepted.length >= from + 3
    })
    proxy.losePackets(false)
    expect(await isBack()).toBe(true)
  }, 60_000)

  it('packets that are on their way for long do not delay the next ones', async () => {
    const latency = 30_000
    proxy.set({ toServer: { latency }, toClient: { latency } })
    await until('nothing arrives', 10_000, isDegraded)
    proxy.set({}, 'asSent')
    expect(await isBack()).toBe(true)
  }, 60_000)

  it('a server that hung is used through the client again', async () => {
    server.kill('SIGSTOP')
    try {
      await until('it hangs', 10_000, isDegraded)
      const from = proxy.accepted.length
      await until('another connection was tried', 10_000, async () => {
        await isAnswered()
        return proxy.accepted.length > from
      })
    } finally {
      server.kill('SIGCONT')
    }
    expect(await isAlone()).toBe(true)
  }, 60_000)

  it('the second connection ends with the client', async () => {
    proxy.forsake()
    await until('the connection is dead', 10_000, isDegraded)
    await isBack()
    owned.close()
    // The proxy itself keeps its end of the dead one until it is reset.
    const isClosed = await until('it is closed', 10_000, async () => proxy.open <= 1)
    expect(isClosed).toBe(true)
  }, 60_000)

  it('the second connection ends with the store', async () => {
    proxy.forsake()
    await until('the connection is dead', 10_000, isDegraded)
    await isBack()
    expect(proxy.open).toBe(2)
    await store.close()
    const isClosed = await until('it is closed', 10_000, async () => proxy.open === 1)
    expect(isClosed).toBe(true)
  }, 60_000)
})

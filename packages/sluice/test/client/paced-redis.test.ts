// A fleet that shares one outbound budget: eight pacers, each with a connection of its own, at a real Redis.
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { paced } from '../../src/client/paced.ts'
import { redisStore } from '../../src/redis/redis-store.ts'

let server: RedisServer
const clients: Redis[] = []
beforeAll(async () => {
  server = await startRedis()
}, 60_000)
afterAll(async () => {
  for (const client of clients) client.disconnect()
  await server.stop()
})

const connect = (): Redis => {
  const client = new Redis(server.url)
  clients.push(client)
  return client
}

describe('eight workers on one budget', () => {
  it('together send no more than the limit, and nothing is lost', { timeout: 60_000 }, async () => {
    const limit = { quota: 100, window: '1s', burst: 20 } as const
    const WORKERS = 8
    const EACH = 30
    const sent: number[] = []
    const began = performance.now()
    const worker = async (): Promise<void> => {
      const store = redisStore(connect(), { timeout: 5000, onWarning: () => {} })
      const pacer = paced(limit, { store, key: 'outbound' })
      await Promise.all(
        Array.from({ length: EACH }, () => pacer.take().then(() => sent.push(performance.now()))),
      )
      pacer.close()
    }
    await Promise.all(Array.from({ length: WORKERS }, worker))
    const seconds = (performance.now() - began) / 1000
    console.log(
      `${WORKERS} workers, ${sent.length} turns at 100/s with burst 20: ${seconds.toFixed(2)} s`,
    )
    expect(sent).toHaveLength(WORKERS * EACH)
    // 240 units, of which 20 are there at once.
    expect(seconds).toBeGreaterThanOrEqual((WORKERS * EACH - 20) / 100 - 0.01)
  })

  it('another key or another limit is another budget', async () => {
    const store = redisStore(connect(), { timeout: 5000, onWarning: () => {} })
    const pacers = [
      paced('1/h', { store, key: 'a' }),
      paced('1/h', { store, key: 'b' }),
      paced('1/day', { store, key: 'a' }),
    ]
    await Promise.all(pacers.map((pacer) => pacer.take()))
    const again = paced('1/h', { store, key: 'a', maxWait: 1000 })
    await expect(again.take()).rejects.toMatchObject({ code: 'wait-too-long' })
  })

  it('those who wait outlast a server that is away for a while', { timeout: 30_000 }, async () => {
    const store = redisStore(connect(), { timeout: 200, onWarning: () => {} })
    const pacer = paced(
      { quota: 50, window: '1s', burst: 1 },
      { store, key: 'pause', maxWait: '20s' },
    )
    await pacer.take()
    const turns = Array.from({ length: 20 }, () => pacer.take())
    server.kill('SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, 600))
    server.kill('SIGCONT')
    await Promise.all(turns)
    expect(pacer.waiting).toBe(0)
  })
})

// Eight pacers, each with its own connection, share one outbound budget in a real Redis.
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { paced } from '../../src/client/paced.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import type { AsyncStore } from '../../src/stores/store.ts'

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

describe('pacers on one Redis', () => {
  it('together send no more than the limit, and every call gets its turn', async () => {
    const limit = { quota: 100, window: '1s', burst: 20 } as const
    const WORKERS = 8
    const EACH = 10
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
    // 80 units, of which 20 are available at once. Time is only bounded from below.
    expect(seconds).toBeGreaterThanOrEqual((WORKERS * EACH - 20) / 100 - 0.01)
  })

  it('have separate budgets for another key or limit', async () => {
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

  it('keep their calls waiting while the server hangs', async () => {
    const store = redisStore(connect(), { timeout: 200, onWarning: () => {} })
    let failures = 0
    const take: AsyncStore['take'] = async (checks) => {
      try {
        return await store.take(checks)
      } catch (error) {
        failures += 1
        throw error
      }
    }
    const observed = Object.assign(Object.create(store) as AsyncStore, { take })
    const limit = { quota: 50, window: '1s', burst: 1 } as const
    const pacer = paced(limit, { store: observed, key: 'pause', maxWait: '20s' })
    await pacer.take()
    const turns = Array.from({ length: 20 }, () => pacer.take())
    server.kill('SIGSTOP')
    await expect.poll(() => failures, { timeout: 20_000 }).toBeGreaterThan(1)
    server.kill('SIGCONT')
    await Promise.all(turns)
    expect(pacer.waiting).toBe(0)
  })
})

import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { testStore } from '../testing/test-store.ts'
import { redisStore } from './redis-store.ts'

const START = 1_800_000_000_000 - (1_800_000_000_000 % 3_600_000)
let server: RedisServer
let client: Redis
beforeAll(async () => {
  server = await startRedis()
  client = new Redis(server.url)
})
afterAll(async () => {
  client.disconnect()
  await server.stop()
})

describe('the Redis store conforms', () => {
  const make = async () => {
    await client.flushall()
    const clock = fakeClock(START)
    return {
      store: redisStore(client, { clock }),
      advance: (millis: number) => clock.advance(millis),
    }
  }
  for (const { name, run } of testStore(make)) it(name, run)
})

// One server and one client for all tests of a file.
import { Redis } from 'ioredis'
import { afterAll, beforeAll } from 'vitest'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { nothingUnhandled } from './asking.ts'
import { everyKeyExpires } from './keys-expire.ts'

/** A server of the file's own, and a client of it. Both are there once the tests run. */
export interface OneServer {
  readonly server: RedisServer
  readonly client: Redis
}

/** Starts and ends them with the file, which fails if a key never expires or a rejection goes unseen. */
export function oneServer(): OneServer {
  let server: RedisServer
  let client: Redis
  nothingUnhandled()
  beforeAll(async () => {
    server = await startRedis()
    client = new Redis(server.url)
  }, 30_000)
  afterAll(async () => {
    client.disconnect()
    await server.stop()
  })
  everyKeyExpires(() => [server])
  return {
    get server() {
      return server
    },
    get client() {
      return client
    },
  }
}

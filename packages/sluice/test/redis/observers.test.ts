// Observers of decisions that one call to Redis has answered: each runs in the async context of its own request, from
// which applications read who asked.
import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { nothingUnhandled, patientStore } from './asking.ts'
import { standalone, type Connected } from './clients.ts'

let server: RedisServer
let connected: Connected
nothingUnhandled()
beforeAll(async () => {
  server = await startRedis()
  connected = await standalone['ioredis']!(server)
}, 30_000)
afterAll(async () => {
  await connected.close()
  await server.stop()
})

it('each decision of a batch is observed in the context of its request', async () => {
  const storage = new AsyncLocalStorage<string>()
  const seen: (readonly [key: unknown, context: string | undefined])[] = []
  const limiter = createLimiter({
    limit: '5/400d',
    store: patientStore(connected.client),
    onDecision: (_decision, { attributes }) =>
      void seen.push([attributes[0]?.['key'], storage.getStore()]),
  })
  const keys = ['ann', 'bob', 'cem']
  await Promise.all(keys.map((key) => storage.run(key, async () => limiter.check(key))))
  expect(seen).toEqual(keys.map((key) => [key, key]))
})

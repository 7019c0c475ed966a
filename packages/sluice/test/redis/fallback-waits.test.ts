// A key that a server has refused before it died: a caller that waits as long as the fallback says is allowed.
import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'
import { startRedis } from '../../../../test/servers/redis-server.ts'
import { ALGORITHMS, limit } from '../../src/limit/limit.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { ioredisOptions } from '../../src/redis/client-options.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import { ResilientStore } from '../../src/resilience/resilient-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'

it.each(ALGORITHMS)('%s', async (algorithm) => {
  const server = await startRedis()
  onTestFinished(server.stop)
  const client = new Redis(server.url, ioredisOptions({}))
  client.on('error', () => {})
  onTestFinished(() => client.disconnect())
  // The second second of a minute.
  const clock = fakeClock(1_800_000_001_000)
  const remote = redisStore(client, { timeout: 20_000, clock })
  const resilience = { fallbackShare: 0.5, onEvent: () => {} }
  const store = new ResilientStore(remote, resilience, { clock })
  const limiter = createLimiter({ limit: limit({ algorithm, quota: 4, window: '1min' }), store })
  while ((await limiter.check('a')).allowed) continue
  await server.stop()
  // Longer than a refusal is answered without asking the server.
  clock.advance(300)
  const refused = await limiter.check('a')
  expect(refused).toMatchObject({ allowed: false, degraded: true })
  clock.advance(refused.retryAfter!)
  expect(await limiter.check('a')).toMatchObject({ allowed: true, degraded: true })
})

// Every client that knows sentinels, on a primary with a replica.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RedisServer } from '../../../../test/servers/redis-server.ts'
import { startSentinel, type RedisSentinel } from '../../../../test/servers/redis-sentinel.ts'
import { until } from '../../../../test/servers/until.ts'
import { SluiceError } from '../../src/errors.ts'
import { left, nothingUnhandled, on, patientStore, takeOne } from './asking.ts'
import { sentinel } from './clients.ts'
import { conforms } from './conformance.ts'
import { everyKeyExpires } from './keys-expire.ts'

let servers: RedisSentinel
let alive: readonly RedisServer[]
nothingUnhandled()
beforeAll(async () => {
  servers = await startSentinel()
  alive = servers.servers
}, 60_000)
afterAll(() => servers.stop())
everyKeyExpires(() => alive)

for (const [name, connect] of Object.entries(sentinel)) conforms(name, connect, () => servers)

describe('a failover', () => {
  it('is errors that pass, and then every client goes on with the new primary', async () => {
    const connected = await Promise.all(Object.values(sentinel).map((connect) => connect(servers)))
    const checks = connected.map((_, i) => on(`failover ${i}`, '100000/400d'))
    const stores = connected.map(({ client }) => patientStore(client, { timeout: 1000 }))
    const taken = checks.map(() => 0)
    const lost = checks.map(() => 0)
    const errors: unknown[] = []
    let isOver = false
    const load = stores.map(async (store, i) => {
      while (!isOver) {
        try {
          await takeOne(store, checks[i]!)
          taken[i]! += 1
        } catch (error) {
          errors.push(error)
          lost[i]! += 1
          await new Promise((resolve) => void setTimeout(resolve, 20))
        }
      }
    })
    await until('all have taken', 20_000, async () => taken.every((count) => count > 50))
    const old = await servers.primary()
    await servers.failover()
    alive = servers.servers.filter((server) => server !== old)
    const before = [...taken]
    await until('all go on', 60_000, async () => taken.every((count, i) => count > before[i]! + 50))
    isOver = true
    await Promise.all(load)
    for (const error of errors) {
      expect(error).toBeInstanceOf(SluiceError)
      expect([String(error), (error as SluiceError).transient]).toEqual([String(error), true])
    }
    // The old primary may have taken the last writes with it; a lost answer is charged once at most.
    const store = stores[0]!
    const counted = (await left(store, ...checks)).map((remaining) => 100_000 - remaining)
    for (const [i, count] of counted.entries())
      expect(count).toBeLessThanOrEqual(taken[i]! + lost[i]!)
    for (const { close } of connected) await close()
  }, 120_000)
})

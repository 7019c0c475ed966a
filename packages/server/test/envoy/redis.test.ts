// The rate limit service on a real Redis: the same answers, exact counts between processes, and a server that goes away.
import { Redis } from 'ioredis'
import type { RemoteStore, Store } from 'sluice'
import { withResilience } from 'sluice/resilience'
import { redisStore } from 'sluice/redis'
import { fakeClock } from 'sluice/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { OK, OVER, type Client, type Question } from './client.ts'
import { rawClient } from './raw-client.ts'
import { SCENARIOS } from './scenarios.ts'
import { NOON, startTestServer, type TestServerOptions } from './server.ts'

let redis: RedisServer
const closing: (() => unknown)[] = []
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(async () => {
  redis.kill('SIGCONT')
  await redis.cli('FLUSHALL').catch(() => redis.restart())
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** A store that has been heard of: the first calls of a client that is still connecting fail. */
async function connectStore(options: Parameters<typeof redisStore>[1] = {}): Promise<Store> {
  const client = new Redis(redis.url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => 50,
  })
  client.on('error', () => {})
  closing.push(() => client.disconnect())
  await until('Redis answers', 5000, async () => (await client.ping()) === 'PONG')
  // A deadline that no pause of the machine reaches.
  return redisStore(client, { onWarning: () => {}, timeout: 10_000, ...options })
}

async function serve(store: Store, options: TestServerOptions = {}): Promise<Client> {
  const server = await startTestServer({ store, ...options })
  closing.push(() => server.close(100))
  const client = rawClient(server.url)
  closing.push(() => client.close())
  return client
}

const look = (key: string, value: string): Question => ({
  domain: 'shop',
  descriptors: [{ entries: [[key, value]], hits: 0 }],
})
const ask = (...entries: [string, string][]): Question => ({
  domain: 'shop',
  descriptors: entries.map((entry) => ({ entries: [entry] })),
})

describe('the scenarios, counted in Redis', () => {
  test.each(Object.entries(SCENARIOS))('%s', async (_, steps) => {
    const clock = fakeClock(NOON)
    const client = await serve(await connectStore({ clock }))
    for (const [i, { after = 0, ask, expect: expected }] of steps.entries()) {
      clock.advance(after)
      expect(await client.ask(ask), `step ${i + 1}`).toMatchObject(expected)
    }
  })
})

test('two services on one Redis count exactly, and no refused request is charged in part', async () => {
  const clock = fakeClock(NOON)
  const clients = [
    await serve(await connectStore({ clock })),
    await serve(await connectStore({ clock })),
  ] as const
  // The office may ask 10 times, the other address 5 times: half of the descriptors have room for twice as much.
  const both = ask(['remote_address', '198.51.100.7'], ['remote_address', '10.0.0.1'])
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => clients[i % 2]!.ask(both)),
  )
  expect(answers.filter(({ code }) => code === OK)).toHaveLength(5)
  expect(answers.filter(({ code }) => code === OVER)).toHaveLength(195)
  const { statuses } = await clients[0].ask(look('remote_address', '198.51.100.7'))
  expect(statuses?.[0]?.remaining).toBe(5)
})

test('each descriptor pays for itself where that is asked for, also in Redis', async () => {
  const clock = fakeClock(NOON)
  const client = await serve(await connectStore({ clock }), { charging: 'each' })
  const both = ask(['remote_address', '198.51.100.7'], ['remote_address', '10.0.0.1'])
  for (let i = 0; i < 8; i++) await client.ask(both)
  const { statuses } = await client.ask(look('remote_address', '198.51.100.7'))
  expect(statuses?.[0]?.remaining).toBe(2)
  const late = { ...ask(['remote_address', '198.51.100.7']), hits: 50 }
  expect((await client.ask(late)).code).toBe(OVER)
  expect((await client.ask(look('remote_address', '198.51.100.7'))).statuses?.[0]?.remaining).toBe(
    0,
  )
})

describe('a Redis that becomes unreachable', () => {
  const clock = fakeClock(NOON)
  const guarded = async (): Promise<Store> =>
    withResilience(
      (await connectStore({ timeout: 100, clock })) as RemoteStore,
      { onEvent: () => {} },
      { clock },
    )
  const address = ask(['remote_address', '198.51.100.7'])

  /** What 20 requests hear, one after the other. */
  async function twenty(client: Client) {
    const outcomes: string[] = []
    for (let i = 0; i < 20; i++) {
      const { status, code } = await client.ask(address)
      outcomes.push(status === 0 ? (code === OK ? 'allowed' : 'refused') : `status ${status}`)
    }
    const count = (what: string): number => outcomes.filter((one) => one === what).length
    return {
      allowed: count('allowed'),
      refused: count('refused'),
      unavailable: count('status 14'),
    }
  }

  test.each(['SIGKILL', 'SIGSTOP'] as const)(
    '%s: half the limit is granted here, nobody waits for its return, and then it is back',
    async (signal) => {
      const client = await serve(await guarded(), { onStoreFailure: 'local' })
      // Charges nothing, here or there, should the machine pause for longer than the deadline.
      await client.ask(look('remote_address', '198.51.100.7'))
      redis.kill(signal)
      // All of them are answered before Redis can answer one.
      expect(await twenty(client)).toMatchObject({ allowed: 5, refused: 15 })
      if (signal === 'SIGKILL') await redis.restart()
      else redis.kill('SIGCONT')
      await until('Redis counts again', 5000, async () => {
        // The breaker waits by this clock.
        clock.advance(100)
        return (await client.ask(address)).code === OK
      })
      expect((await client.ask(look('remote_address', '198.51.100.7'))).status).toBe(0)
    },
  )

  test('open: everybody passes', async () => {
    const client = await serve(await guarded(), { onStoreFailure: 'open' })
    redis.kill('SIGKILL')
    expect(await twenty(client)).toMatchObject({ allowed: 20 })
    await redis.restart()
  })

  test('closed: the call fails as UNAVAILABLE, and the proxy decides', async () => {
    const client = await serve(await guarded(), { onStoreFailure: 'closed' })
    redis.kill('SIGKILL')
    expect(await twenty(client)).toMatchObject({ unavailable: 20 })
    await redis.restart()
  })

  test('without a guard: UNAVAILABLE, never anything else', async () => {
    const client = await serve(await connectStore({ timeout: 50 }))
    redis.kill('SIGSTOP')
    expect(await client.ask(address)).toEqual({ status: 14 })
    redis.kill('SIGCONT')
  })
})

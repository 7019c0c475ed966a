// Servers that are gone or hang, through every client: an error in time, and nothing charged afterwards.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { ALGORITHMS } from '../../src/limit/limit.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import { failure, left, nothingUnhandled, on, patientStore, takeOne } from './asking.ts'
import { standalone } from './clients.ts'
import { commandCounts, resetCounts } from './command-counts.ts'
import { everyKeyExpires } from './keys-expire.ts'

let server: RedisServer
nothingUnhandled()
beforeAll(async () => {
  server = await startRedis()
}, 30_000)
afterAll(() => server.stop())
everyKeyExpires(() => [server])

const timeout = { code: 'store-timeout', transient: true }

/** Clients that wait for a server that is gone, and the HTTP server in front of Redis, which does so too. */
const ONLY_LATE = ['a pool of node-redis', 'valkey-glide', '@upstash/redis']

describe.each(Object.entries(standalone))('through %s', (name, open) => {
  it('a call that sat in a stopped server until we gave up changes nothing when it goes on', async () => {
    const { client, close } = await open(server)
    const prefix = `${name.replaceAll(' ', '')}:`
    const patient = patientStore(client, { prefix })
    const store = redisStore(client, { prefix, timeout: 150 })
    const checks = ALGORITHMS.map((algorithm) => on('a', '1000/400d', { algorithm }))
    // The patient one has a timer of its own and comes first, so that the other knows the script and the time.
    await patient.take(checks)
    await until('a first answer in time', 20_000, async () => (await store.peek(checks)).length > 0)
    await resetCounts(server)
    server.kill('SIGSTOP')
    const asked = Array.from({ length: 100 }, (_, i) => store.take([checks[i % checks.length]!]))
    const failures = await Promise.all(asked.map(failure))
    server.kill('SIGCONT')
    expect(failures).toEqual(asked.map(() => timeout))
    expect(await left(patient, ...checks)).toEqual(checks.map(() => 999))
    // Two batches and the look: nothing was sent a second time.
    const { evalsha, eval: texts = 0 } = await commandCounts(server)
    expect({ evalsha, texts }).toEqual({ evalsha: 3, texts: 0 })
    expect((await takeOne(patient, checks[0]!)).remaining).toBe(998)
    await close()
  }, 60_000)

  it('so does the very first call of a store', async () => {
    const { client, close } = await open(server)
    const prefix = `${name.replaceAll(' ', '')}2:`
    const check = on('a', '1000/400d')
    server.kill('SIGSTOP')
    const store = redisStore(client, { prefix, timeout: 100 })
    const asked = Array.from({ length: 100 }, () => store.take([check]))
    const failures = await Promise.all(asked.map(failure))
    server.kill('SIGCONT')
    expect(failures).toEqual(asked.map(() => timeout))
    expect(await left(patientStore(client, { prefix }), check)).toEqual([1000])
    await close()
  }, 60_000)

  it('a server that is gone is unreachable, and then there again', async () => {
    const { client, close } = await open(server)
    const store = redisStore(client, { prefix: 'gone:', timeout: 1000 })
    const check = on('a', '1000/400d')
    await patientStore(client, { prefix: 'gone:' }).take([check])
    server.kill('SIGKILL')
    const codes = new Set<string>()
    await until('the client has noticed', 20_000, async () => {
      const { code, transient } = await failure(store.take([check]))
      expect(transient).toBe(true)
      codes.add(code)
      return code === 'store-unreachable' || ONLY_LATE.includes(name)
    })
    for (const code of codes) expect(['store-unreachable', 'store-timeout']).toContain(code)
    await server.restart()
    await until('the server is back', 30_000, async () => (await takeOne(store, check)).allowed)
    await close()
  }, 90_000)
})

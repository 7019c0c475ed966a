// Redis over HTTP, through the client of Upstash: what differs from a connection.
import { Redis } from '@upstash/redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { startUpstash, type UpstashServer } from '../../../../test/servers/upstash-server.ts'
import { createLimiter } from '../../src/index.ts'
import { redisStore, upstashOptions } from '../../src/redis/index.ts'
import { failure, nothingUnhandled, on, patientStore, takeOne } from './asking.ts'

let redis: RedisServer
let server: UpstashServer
nothingUnhandled()
beforeAll(async () => {
  redis = await startRedis()
  server = await startUpstash(redis)
}, 30_000)
afterAll(async () => {
  await server.stop()
  await redis.stop()
})

const clientOf = (more: object = {}): Redis =>
  new Redis(upstashOptions({ url: server.url, token: server.token, ...more }))

describe('a store over HTTP', () => {
  it('counts in one place with all others', async () => {
    const [one, other] = [1, 2].map(() =>
      createLimiter({ limit: '5/h', store: redisStore(clientOf(), { timeout: 20_000 }) }),
    )
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? one! : other!).check('shared')),
    )
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(5)
    expect(answers.filter(({ degraded }) => degraded)).toEqual([])
  })

  it.each([
    ['without pipelines', { enableAutoPipelining: false }],
    ['without base64', { responseEncoding: false }],
    ['without parsing', { automaticDeserialization: false }],
  ])('works %s', async (name, options) => {
    const store = patientStore(clientOf(options))
    const check = on(name, '2/h')
    const verdicts = [1, 2, 3].map(() => takeOne(store, check))
    expect((await Promise.all(verdicts)).map(({ allowed }) => allowed)).toEqual([true, true, false])
  })

  it('sends the checks of one turn in one request', async () => {
    const store = patientStore(clientOf())
    // The server learns the script for several requests first; it would ask for it otherwise.
    await Promise.all(['warm-a', 'warm-b'].map((key) => takeOne(store, on(key, '9/h'))))
    await Promise.all(['turn-a', 'turn-b', 'turn-c'].map((key) => takeOne(store, on(key, '9/h'))))
    expect(server.bodies.filter((body) => body.includes('turn-'))).toHaveLength(1)
  })

  it('makes no request twice when its answer is lost', async () => {
    const store = patientStore(clientOf())
    const check = on('lost', '9/h')
    await takeOne(store, check)
    server.dropNext('lost')
    expect(await failure(store.take([check]))).toEqual({
      code: 'store-unreachable',
      transient: true,
    })
    expect(await takeOne(store, check)).toMatchObject({ remaining: 6 })
  })

  it('knows a server that cannot be reached, and a wrong token', async () => {
    const unreachable = patientStore(clientOf({ url: 'http://127.0.0.1:1' }))
    expect(await failure(unreachable.take([on('a', '1/h')]))).toMatchObject({
      code: 'store-unreachable',
    })
    const forbidden = patientStore(clientOf({ token: 'wrong' }))
    expect(await failure(forbidden.take([on('a', '1/h')]))).toEqual({
      code: 'store-forbidden',
      transient: false,
    })
  })

  it('shows no keys in the errors of the server', async () => {
    const store = patientStore(clientOf(), { prefix: 'other:' })
    const check = on('ann', '1/h')
    await takeOne(store, check)
    const raw = new Redis({ url: server.url, token: server.token })
    const [key] = await raw.keys('other:*')
    await raw.set(key!, 'not a hash')
    await raw.lpush('list', 'a')
    await raw.rename('list', key!)
    const error: unknown = await Promise.resolve(store.take([check])).catch(
      (cause: unknown) => cause,
    )
    expect(error).toMatchObject({ code: 'store-wrong-type' })
    expect((error as Error).message).not.toContain('ann')
  })
})

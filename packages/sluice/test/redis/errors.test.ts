// What a server can say instead of an answer: one of our codes each, whether later may help, and nobody else harmed.
import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { Redis as Iovalkey } from 'iovalkey'
import { createClient, RESP_TYPES } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { startAll } from '../../../../test/servers/start-all.ts'
import { until } from '../../../../test/servers/until.ts'
import { ALGORITHMS } from '../../src/limit/limit.ts'
import { redisKeys } from '../../src/redis/redis-key.ts'
import type { RedisStore } from '../../src/redis/redis-store.ts'
import { failure, left, nothingUnhandled, on, patientStore, takeOne } from './asking.ts'
import { standalone } from './clients.ts'
import { everyKeyExpires } from './keys-expire.ts'

const nameOf = redisKeys('sl:')
let server: RedisServer
let other: RedisServer
const clients: Redis[] = []
const connect = async (target: RedisServer, options = {}): Promise<Redis> => {
  const { host, port } = target
  const plain = { enableOfflineQueue: false, maxRetriesPerRequest: 0, lazyConnect: true }
  const client = new Redis({ host, port, ...plain, ...options }).on('error', () => {})
  clients.push(client)
  await client.connect()
  return client
}

nothingUnhandled()
beforeAll(async () => {
  const started = await startAll([{}, {}])
  server = started[0]!
  other = started[1]!
}, 30_000)
afterAll(async () => {
  for (const client of clients) client.disconnect()
  await Promise.all([server.stop(), other.stop()])
})

describe.each(Object.entries(standalone))('a value of another type, through %s', (name, open) => {
  everyKeyExpires(() => [server])

  it('fails its own request, not its neighbours in the batch', async () => {
    const { client, close } = await open(server)
    const prefix = `${name.replaceAll(' ', '')}:`
    const store = patientStore(client, { prefix })
    for (const algorithm of ALGORITHMS) {
      const good = on('good', '10/400d', { algorithm })
      const bad = on('bad', '10/400d', { algorithm })
      const key = redisKeys(prefix)(bad.space, bad.key)
      await server.cli('LPUSH', key, 'mine')
      const asked = [[good], [bad], [good, bad], [bad, good], [good]].map((checks) =>
        store.take(checks),
      )
      const peeked = store.peek([bad])
      const given = store.refund([bad])
      const failed = { code: 'store-wrong-type', transient: false }
      expect(await failure(asked[1])).toEqual(failed)
      expect(await failure(asked[2])).toEqual(failed)
      expect(await failure(asked[3])).toEqual(failed)
      expect(await failure(peeked)).toEqual(failed)
      expect(await failure(given)).toEqual(failed)
      expect((await asked[0])?.[0]?.remaining).toBe(9)
      expect((await asked[4])?.[0]?.remaining).toBe(8)
      // Left as it was, until somebody forgets it on purpose.
      expect(await server.cli('TYPE', key)).toBe('list')
      await store.reset([bad])
      expect((await takeOne(store, bad)).remaining).toBe(9)
    }
    await close()
  }, 60_000)
})

describe('a client that was told to give replies in another form', () => {
  it('is understood: numbers as text', async () => {
    const store = patientStore(await connect(server, { stringNumbers: true }), { prefix: 'text:' })
    await server.cli('LPUSH', redisKeys('text:')(on('bad', '3/400d').space, 'bad'), 'mine')
    const asked = ['good', 'bad', 'good'].map((key) => store.take([on(key, '3/400d')]))
    expect((await failure(asked[1])).code).toBe('store-wrong-type')
    expect((await asked[0])?.[0]?.remaining).toBe(2)
    expect((await asked[2])?.[0]?.remaining).toBe(1)
    await store.reset([on('bad', '3/400d')])
  })

  it('is understood: texts as bytes', async () => {
    const { host, port } = server
    const client = createClient({
      socket: { host, port },
      commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    })
    await client.connect()
    const store = patientStore(client, { prefix: 'bytes:' })
    await server.cli('LPUSH', redisKeys('bytes:')(on('bad', '3/400d').space, 'bad'), 'mine')
    const asked = ['good', 'bad', 'good'].map((key) => store.take([on(key, '3/400d')]))
    expect((await failure(asked[1])).code).toBe('store-wrong-type')
    expect((await asked[2])?.[0]?.remaining).toBe(1)
    await store.reset([on('bad', '3/400d')])
    client.destroy()
  })
})

describe('a replica', () => {
  it('takes no writes, but lets one look', async () => {
    await other.cli('REPLICAOF', server.host, `${server.port}`)
    const store = patientStore(await connect(other))
    expect(await failure(store.take([on('a', '3/400d')]))).toEqual({
      code: 'store-readonly',
      transient: true,
    })
    expect(await left(store, on('a', '3/400d'))).toEqual([3])
    await other.cli('REPLICAOF', 'NO', 'ONE')
    expect((await takeOne(store, on('a', '3/400d'))).allowed).toBe(true)
  }, 60_000)
})

describe('a full server', () => {
  it('charges nothing, still answers peeks and resets, and goes on when there is room again', async () => {
    const store = patientStore(await connect(server), { prefix: 'oom:' })
    const both = [on('a', '3/400d'), on('b', '3/400d', { algorithm: 'sliding-log' })]
    await store.take(both)
    await server.cli('CONFIG', 'SET', 'maxmemory', '1')
    const full = { code: 'store-full', transient: true }
    const asked = [store.take(both), store.take([on('c', '3/400d')])]
    expect(await failure(asked[0])).toEqual(full)
    expect(await failure(asked[1])).toEqual(full)
    expect(await left(store, ...both)).toEqual([2, 2])
    await store.reset([on('a', '3/400d')])
    await server.cli('CONFIG', 'SET', 'maxmemory', '0')
    expect(await left(store, ...both)).toEqual([3, 2])
    expect((await takeOne(store, on('c', '3/400d'))).remaining).toBe(2)
  }, 60_000)
})

describe('a busy server', () => {
  it('that runs an endless script of another program is reported', async () => {
    await server.cli('CONFIG', 'SET', 'busy-reply-threshold', '50')
    const store = patientStore(await connect(server))
    await takeOne(store, on('busy', '3/400d'))
    const endless = server.cli('EVAL', 'while true do end', '0').catch(() => 'killed')
    const busy = { code: 'store-busy', transient: true }
    await until('the server says that it is busy', 20_000, async () => {
      try {
        await store.take([on('busy', '3/400d')])
        return false
      } catch (error) {
        return (error as { code: string }).code === busy.code
      }
    })
    expect(await failure(store.take([on('busy', '3/400d')]))).toEqual(busy)
    await server.cli('SCRIPT', 'KILL')
    expect(await endless).toBe('killed')
    expect((await takeOne(store, on('busy', '3/400d'))).allowed).toBe(true)
  }, 60_000)

  it('that loads its data says so', async () => {
    const store = patientStore(await connect(other))
    await takeOne(store, on('loading', '3/400d'))
    await server.cli(
      'EVAL',
      "for i = 1, 2000 do redis.call('SET', 'load:' .. i, 'x', 'EX', 600) end",
      '0',
    )
    await other.cli('CONFIG', 'SET', 'key-load-delay', '20000')
    await other.cli('CONFIG', 'SET', 'loading-process-events-interval-bytes', '1024')
    await other.cli('REPLICAOF', server.host, `${server.port}`)
    await until('the server loads', 20_000, async () => {
      const error = await other.cli('PING').catch(String)
      return String(error).includes('LOADING')
    })
    expect(await failure(store.take([on('loading', '3/400d')]))).toEqual({
      code: 'store-busy',
      transient: true,
    })
    await other.restart()
  }, 60_000)
})

describe('a server that lets not everybody in', () => {
  const forbidden = { code: 'store-forbidden', transient: false }
  let target: RedisServer
  beforeAll(async () => {
    target = await startRedis({ args: ['--requirepass', 'secret'] })
  }, 30_000)
  afterAll(() => target.stop())

  it('wants a password', async () => {
    const client = new Iovalkey(target.port, { enableReadyCheck: false }).on('error', () => {})
    expect(await failure(patientStore(client).take([on('a', '3/400d')]))).toEqual(forbidden)
    client.disconnect()
  })

  it.each([
    ['other keys only', ['~other:*', '+@all']],
    ['no scripts', ['~*', '+@all', '-evalsha', '-eval']],
    ['no writes', ['~*', '+@all', '-set']],
    ['no reads', ['~*', '+@all', '-get']],
    ['no time', ['~*', '+@all', '-time']],
  ])('allows %s', async (_, rules) => {
    await target.cli('ACL', 'SETUSER', 'limited', 'reset', 'on', '>word', ...rules)
    const client = await connect(target, { username: 'limited', password: 'word' })
    expect(await failure(patientStore(client).take([on('a', '3/400d')]))).toEqual(forbidden)
    client.disconnect()
  })

  it('allows what the reference says that the store needs', async () => {
    const page = readFileSync(
      new URL('../../../../docs/reference/redis.md', import.meta.url),
      'utf8',
    )
    const [, rules] = /^ACL SETUSER sluice on >password (.*)$/m.exec(page)!
    await target.cli('ACL', 'SETUSER', 'sluice', 'reset', 'on', '>word', ...rules!.split(' '))
    const client = await connect(target, {
      username: 'sluice',
      password: 'word',
      enableReadyCheck: false,
      disableClientInfo: true,
    })
    const store = patientStore(client) as RedisStore
    const log = on('log', '1000/400d', { algorithm: 'sliding-log' })
    for (let i = 0; i < 300; i++) await takeOne(store, log)
    await store.refund([log])
    expect(await left(store, log)).toEqual([701])
    await store.reset([log])
    for (const algorithm of ALGORITHMS) {
      const check = on('a', '3/400d', { algorithm })
      await takeOne(store, check)
      await store.refund([check])
      expect(await left(store, check)).toEqual([3])
    }
    const held = { ...on('held', '10/400d'), holds: true, cost: 2 }
    const hold = { id: 'one', life: 60_000, onEnd: 'free' } as const
    const { verdicts } = await store.exchange([], [{ ...held, hold }])
    expect(verdicts.map(({ remaining }) => remaining)).toEqual([8])
    const { space, key, limit } = held
    const { settled } = await store.exchange(
      [{ space, key, limit, id: 'one', spent: 1, keep: 0 }],
      [{ ...held, cost: 1, hold: { ...hold, id: 'two' } }],
    )
    expect(settled).toMatchObject([{ status: 'settled', charged: 1 }])
  }, 60_000)
})

describe('names', () => {
  it('are what the tests think', async () => {
    const store = patientStore(await connect(server))
    await takeOne(store, on('named', '3/400d'))
    const { space } = on('named', '3/400d')
    expect(await server.cli<number>('EXISTS', nameOf(space, 'named'))).toBe(1)
  })
})

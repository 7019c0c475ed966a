// Something between client and server that answers in its place, or ends connections: nothing of it is taken for a decision.
import { connect, createServer, type Server, type Socket } from 'node:net'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type RedisServer, startRedis } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { createLimiter, type Limiter } from '../../src/index.ts'
import { ioredisOptions, nodeRedisOptions, redisStore } from '../../src/redis/index.ts'
import type { RedisClient } from '../../src/redis/index.ts'
import { nothingUnhandled } from './asking.ts'

const ignore = (): void => {}
const QUOTA = 1000
const seconds = Math.floor(Date.now() / 1000)

/** What comes in place of the answer to a script. */
const replies: Readonly<Record<string, string>> = {
  'a number': ':1\r\n',
  nothing: '$-1\r\n',
  'an empty list': '*0\r\n',
  'a status': '+OK\r\n',
  'texts that are no numbers': '*2\r\n$3\r\nNaN\r\n$3\r\nabc\r\n',
  'a list in a list': '*2\r\n*1\r\n:1\r\n*1\r\n:5\r\n',
  'the time alone': `*1\r\n:${seconds}000\r\n`,
  'more than was asked': `*5\r\n:${seconds}000\r\n${':0\r\n'.repeat(4)}`,
  'the answer of another time': '*2\r\n:99999999999999\r\n:0\r\n',
  'numbers that are not whole': `*2\r\n:${seconds}000\r\n$3\r\n0.5\r\n`,
  'half an answer, again and again': `*2\r\n:${seconds}`,
  'an error of HTTP': 'HTTP/1.1 400 Bad Request\r\n\r\n',
}

/** Stands between client and server. */
interface Between {
  readonly port: number
  /** Connections so far. */
  accepted: number
  /** What every script is answered with, or that its connection ends; undefined lets all pass. */
  answer: string | undefined
}

let server: RedisServer
nothingUnhandled()
beforeAll(async () => {
  server = await startRedis()
}, 30_000)
afterAll(() => server.stop())

async function standBetween(): Promise<Between> {
  const open = new Set<Socket>()
  const listener: Server = createServer((client) => {
    made.accepted += 1
    const behind = connect({ host: server.host, port: server.port, noDelay: true })
    client.on('data', (bytes) => {
      const isScript = /\r\neval(sha)?\r\n/i.test(bytes.toString('latin1'))
      if (!isScript || made.answer === undefined) behind.write(bytes)
      else if (made.answer === 'end') client.destroy()
      else client.write(made.answer)
    })
    behind.on('data', (bytes) => void client.write(bytes))
    for (const [one, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      open.add(one)
      one.on('error', ignore).on('close', () => other.destroy())
    }
  })
  const made: Between = {
    accepted: 0,
    answer: undefined,
    get port() {
      return (listener.address() as { port: number }).port
    },
  }
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    listener.close()
  })
  return made
}

const kinds: Readonly<Record<string, (port: number) => RedisClient>> = {
  ioredis: (port) => {
    const client = new Redis(ioredisOptions({ port })).on('error', ignore)
    onTestFinished(() => client.disconnect())
    return client
  },
  'node-redis': (port) => {
    const client = createClient(nodeRedisOptions({ socket: { host: '127.0.0.1', port } }))
    client.on('error', ignore).connect().catch(ignore)
    onTestFinished(() => client.destroy())
    return client
  },
}

/** A limiter on the server behind, and what it has charged there. */
function limiterOn(client: RedisClient, prefix: string) {
  let charged = 0
  const limiter: Limiter = createLimiter({
    limit: { quota: QUOTA, window: '400d', algorithm: 'fixed-window' },
    store: redisStore(client, { prefix, onWarning: ignore }),
    resilience: { onEvent: ignore },
  })
  onTestFinished(() => limiter.close())
  const isDecided = async (): Promise<boolean> => {
    const { degraded } = await limiter.check('somebody')
    if (!degraded) charged += 1
    return !degraded
  }
  const isBack = (): Promise<boolean> =>
    until('the store decides', 20_000, async () => {
      for (let i = 0; i < 5; i++) if (!(await isDecided())) return false
      return true
    })
  return { limiter, isDecided, isBack, charged: () => charged }
}

describe.each(Object.keys(kinds))('through a client of %s', (kind) => {
  it.each(Object.keys(replies))('%s is no decision', async (name) => {
    const between = await standBetween()
    const own = limiterOn(
      kinds[kind]!(between.port),
      `${kind}${name}:`.replaceAll(/\W/g, '').slice(0, 32),
    )
    await own.isBack()
    between.answer = replies[name]!
    const asked: Promise<boolean>[] = []
    for (let i = 0; i < 12; i++) {
      asked.push(own.isDecided())
      await new Promise((resolve) => void setImmediate(resolve))
    }
    expect(await Promise.all(asked)).toEqual(asked.map(() => false))
    between.answer = undefined
    expect(await own.isBack()).toBe(true)
    // A call may have been charged whose reply was misread. Nothing is refunded that was not charged.
    const left = await until('the store is read', 20_000, async () => {
      const { remaining, degraded } = await own.limiter.peek('somebody')
      return degraded ? undefined : { remaining }
    })
    expect(left.remaining).toBeLessThanOrEqual(QUOTA - own.charged())
  })

  it('a server that ends each connection with its first script sees few of them', async () => {
    const between = await standBetween()
    const own = limiterOn(kinds[kind]!(between.port), `${kind}-ends:`)
    await own.isBack()
    between.answer = 'end'
    await until('the breaker is open', 20_000, async () => !(await own.isDecided()))
    const from = between.accepted
    const began = performance.now()
    await until('some connections', 60_000, async () => {
      await own.isDecided()
      return between.accepted >= from + 20
    })
    // A probe of the breaker each, at most; without a bound there would be one in 25 ms.
    expect(performance.now() - began).toBeGreaterThan(2000)
    between.answer = undefined
    expect(await own.isBack()).toBe(true)
  })
})

// Counts that others have dropped, replaced or damaged.
import { createLimiter } from '../../../packages/sluice/src/index.ts'
import { redisStore } from '../../../packages/sluice/src/redis/index.ts'
import { until } from '../../servers/until.ts'
import { clientKinds, hotKey, type Orders } from '../orders.ts'
import { connectTo } from '../pod-clients.ts'
import { onServer } from '../places.ts'
import { QUOTA, type Scenario, TIMEOUT } from '../scenario.ts'
import { eviction } from './eviction.ts'
import type { RedisServer } from '../../servers/redis-server.ts'

const short = { test: 2000, full: 5000 }

/** The names of the hot key's counts, one for each client. */
async function hotNames(server: RedisServer): Promise<string[]> {
  const found = await Promise.all(
    clientKinds.map((client) => server.cli<string[]>('KEYS', `${client}:{${hotKey}}*`)),
  )
  return found.flat()
}

/** At once, or a pod would begin a count in between. */
const ASIDE = `
redis.call('RENAME', KEYS[1], KEYS[2])
return redis.call('RPUSH', KEYS[1], 'not a count')`

/** Two doubles as the script packs them: the instant in ms and the level in units of 1/window. */
const PACK = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
return redis.call('SET', KEYS[1], struct.pack('<dd', now, tonumber(ARGV[1])), 'KEEPTTL')`

export const damaged: readonly Scenario[] = [
  eviction,
  {
    name: 'a list in place of the count',
    length: short,
    open: onServer(async (server, { begin, back, last }) => {
      const names = await hotNames(server)
      begin()
      for (const name of names) await server.cli('EVAL', ASIDE, '2', name, `aside:${name}`)
      await last()
      for (const name of names) await server.cli('RENAME', `aside:${name}`, name)
      back()
    }),
    bounds: { median: TIMEOUT },
  },
  {
    name: 'the count without its TTL',
    length: short,
    open: onServer(async (server, { begin, back, last }) => {
      begin()
      for (const name of await hotNames(server)) await server.cli('PERSIST', name)
      await last()
      back()
    }),
    bounds: { fallback: 0, median: TIMEOUT },
  },
  {
    name: 'the count replaced by other bytes',
    length: short,
    open: onServer(async (server, { begin, back, last }) => {
      begin()
      for (const name of await hotNames(server)) {
        await server.cli('SET', name, 'sixteen bytes :(', 'KEEPTTL')
      }
      await last()
      back()
    }),
    // Nothing is known of what was taken: it starts afresh, once.
    bounds: { again: QUOTA, fallback: 0, median: TIMEOUT },
  },
  {
    name: 'the largest count, costs of 2^53 - 1',
    length: short,
    load: { hotCost: 2 ** 53 - 1 },
    open: onServer(async (server, { begin, back, last, hold, pods }) => {
      begin()
      for (const { orders } of pods) hold('units left', await leftOfTheLargest(server, orders), 0)
      await last()
      back()
    }),
    bounds: { fallback: 0, median: TIMEOUT },
  },
]

/** What is left of a count that another program has set to the largest there is, 2^52. */
async function leftOfTheLargest(server: RedisServer, { client, prefix, quota, window }: Orders) {
  const timeout = 20_000
  const connected = await connectTo(client, { kind: 'one', address: server }, timeout)
  const store = redisStore(connected.client, { prefix, timeout })
  const limiter = createLimiter({ limit: { quota, window }, store, resilience: false })
  const ask = () => limiter.check('largest')
  await until('an answer', 5000, ask)
  const [name] = await server.cli<string[]>('KEYS', `${prefix}{largest}*`)
  await server.cli('EVAL', PACK, '1', name!, `${2 ** 52}`)
  const { allowed, remaining } = await ask()
  connected.close()
  // Whatever its sign, what is not exactly nothing breaks the bound.
  return allowed ? quota : Math.abs(remaining)
}

// Several processes at one server, by its own clock: exactly the quota, nothing charged in part, whatever their clocks say.
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { ALGORITHMS } from '../../src/limit/limit.ts'
import { left, on, patientStore } from './asking.ts'
import { everyKeyExpires } from './keys-expire.ts'
import type { Errand, Orders } from './taker.ts'
import { compileTakers, type Takers } from './takers.ts'

const PROCESSES = 8
const TAKES = lengthOf(1000, 20_000)
/** What all of them ask for is more than three times as much. */
const QUOTA = 0.3 * PROCESSES * TAKES
/** The largest quota of a sliding log. */
const MAX_LOGGED = 10_000
const HOUR = 3_600_000

let server: RedisServer
let client: Redis
let takers: Takers
beforeAll(async () => {
  server = await startRedis()
  client = new Redis(server.url)
  takers = await compileTakers()
}, 60_000)
afterAll(async () => {
  client.disconnect()
  takers.remove()
  await server.stop()
})
everyKeyExpires(() => [server])

const orders = (prefix: string, errands: readonly Errand[], skew = 0, inFlight = 256): Orders => ({
  port: server.port,
  prefix,
  skew,
  inFlight,
  errands,
})

describe(`${PROCESSES} processes with ${TAKES} takes each on one key`, () => {
  // Windows so long that none ends, and no bucket gains a unit, while the test runs.
  const limits = ALGORITHMS.map((algorithm) =>
    on('hot', `${algorithm === 'sliding-log' ? Math.min(QUOTA, MAX_LOGGED) : QUOTA}/400d`, {
      algorithm,
    }),
  )

  it('admit exactly the quota, for every algorithm', async () => {
    const errands = limits.map((check) => ({ takes: TAKES, requests: [[check]] }))
    const outcomes = await takers.run(
      Array.from({ length: PROCESSES }, () => orders('hot:', errands)),
    )
    for (const [i, { limit }] of limits.entries()) {
      const admitted = outcomes.map((one) => one[i]!.allowed[0]!)
      expect(outcomes.flatMap((one) => one[i]!.errors)).toEqual([])
      expect([limit.algorithm, admitted.reduce((a, b) => a + b)]).toEqual([
        limit.algorithm,
        limit.quota,
      ])
    }
    const store = patientStore(client, { prefix: 'hot:' })
    expect(await left(store, ...limits)).toEqual(limits.map(() => 0))
  }, 300_000)
})

describe('two limits on one request, from several processes', () => {
  it('are charged together or not at all', async () => {
    const pairs = ALGORITHMS.map((algorithm, i) => {
      const wide = on('everybody', '2500/400d', { algorithm })
      const other = ALGORITHMS[(i + 1) % ALGORITHMS.length]!
      const narrow = (user: number) => on(`user ${i} ${user}`, '700/300d', { algorithm: other })
      return { wide, narrow: [0, 1, 2, 3, 4].map(narrow) }
    })
    // By turns in either order, so that sometimes the first refuses and sometimes the second.
    const errands = pairs.map(({ wide, narrow }) => ({
      takes: lengthOf(1000, 2000),
      requests: narrow.map((check, i) => (i % 2 === 0 ? [wide, check] : [check, wide])),
    }))
    const outcomes = await takers.run(
      Array.from({ length: 4 }, () => orders('two:', errands, 0, 64)),
    )
    const store = patientStore(client, { prefix: 'two:' })
    for (const [i, { wide, narrow }] of pairs.entries()) {
      expect(outcomes.flatMap((one) => one[i]!.errors)).toEqual([])
      const admitted = narrow.map((_, user) =>
        outcomes.reduce((sum, one) => sum + one[i]!.allowed[user]!, 0),
      )
      expect(await left(store, ...narrow)).toEqual(admitted.map((count) => 700 - count))
      const total = admitted.reduce((a, b) => a + b)
      expect(await left(store, wide)).toEqual([2500 - total])
      expect(total).toBe(2500)
    }
  }, 120_000)
})

describe('processes whose clocks are wrong by an hour', () => {
  it('trap: application clocks passed to the store mint quota: here they change nothing', async () => {
    const checks = ALGORITHMS.map((algorithm) => on('skewed', '1000/1h', { algorithm }))
    const errands = checks.map((check) => ({ takes: 600, requests: [[check]] }))
    const before = await serverNow()
    const outcomes = await takers.run(
      [-HOUR, 0, HOUR].map((skew) => orders('skew:', errands, skew, 16)),
    )
    const after = await serverNow()
    for (const [i, { limit }] of checks.entries()) {
      const admitted = outcomes.map((one) => one[i]!.allowed[0]!).reduce((a, b) => a + b)
      expect(outcomes.flatMap((one) => one[i]!.errors)).toEqual([])
      // Buckets gain a unit every 3.6 s, and a fixed window may end meanwhile; an hour too early would double it.
      const isEdge = Math.floor(before / HOUR) !== Math.floor(after / HOUR)
      const gained = isEdge ? 1800 : 1000 + Math.ceil((after - before) / 3600)
      expect([limit.algorithm, admitted >= 1000 && admitted <= gained]).toEqual([
        limit.algorithm,
        true,
      ])
      for (const outcome of outcomes) {
        expect(outcome[i]!.at).toBeGreaterThanOrEqual(before)
        expect(outcome[i]!.at).toBeLessThanOrEqual(after)
      }
    }
  }, 60_000)
})

async function serverNow(): Promise<number> {
  const [seconds, micros] = await server.cli<string[]>('TIME')
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
}

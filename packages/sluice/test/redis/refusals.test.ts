// Refusals from memory, and servers that drop counts: the store as applications make it, on a real server.
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { ALGORITHMS, type AlgorithmName } from '../../src/limit/limit.ts'
import { redisStore, type IoredisLike, type StoreWarning } from '../../src/redis/index.ts'
import type { Check, Store } from '../../src/stores/store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { on, patientStore, takeOne } from './asking.ts'
import { commandCounts, resetCounts } from './command-counts.ts'
import { holdAnswers } from './held-answers.ts'

const HOLD = 250
const START = 1_800_000_000_000

let server: RedisServer
let client: Redis
beforeAll(async () => {
  server = await startRedis()
  client = new Redis(server.url)
}, 30_000)
afterAll(async () => {
  client.disconnect()
  await server.stop()
})

const noWarning = (): void => {}
const COUNTED = ALGORITHMS.filter((algorithm) => algorithm !== 'sliding-log')

describe('a storm of refused requests', () => {
  it('costs the server one call for each hold, by default', async () => {
    const store = redisStore(client, { prefix: 'storm:', timeout: 20_000 })
    const check = on('hot', '10/1h')
    for (let i = 0; i < 10; i++) await store.take([check])
    await store.take([check])
    await resetCounts(server)
    const start = performance.now()
    let refused = 0
    for (let i = 0; i < 20_000; i++) if (!(await takeOne(store, check)).allowed) refused += 1
    const holds = (performance.now() - start) / HOLD
    expect(refused).toBe(20_000)
    const { evalsha = 0 } = await commandCounts(server)
    expect(evalsha).toBeLessThanOrEqual(holds + 1)
  })

  it('goes to the server every time when told so', async () => {
    const store = patientStore(client, { prefix: 'asks:' })
    const check = on('hot', '1/1h')
    await store.take([check])
    await resetCounts(server)
    for (let i = 0; i < 20; i++) await store.take([check])
    expect((await commandCounts(server))['evalsha']).toBe(20)
  })
})

describe('a server with an eviction policy', () => {
  let evicting: RedisServer
  let own: Redis
  beforeAll(async () => {
    evicting = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] })
    own = new Redis(evicting.url)
  }, 30_000)
  afterAll(async () => {
    own.disconnect()
    await evicting.stop()
  })

  it('causes one warning, with a code; one without is not', async () => {
    for (const [one, codes] of [
      [own, ['server-evicts']],
      [client, []],
    ] as const) {
      const heard: StoreWarning[] = []
      const options = {
        prefix: 'told:',
        timeout: 20_000,
        onWarning(warning: StoreWarning) {
          if (!warning.code.startsWith('client-')) heard.push(warning)
        },
      }
      const store = redisStore(one, options)
      for (let i = 0; i < 3; i++) await store.take([on('a', '10/1h')])
      await one.ping()
      await one.ping()
      expect(heard.map(({ code }) => code)).toEqual(codes)
      const named = heard.filter(({ message }) => message.includes('maxmemory-policy allkeys-lru'))
      expect(named).toEqual(heard)
    }
  })

  /** Two processes with a clock of their own, each of which knows that the server evicts. */
  async function twoPods(
    prefix: string,
  ): Promise<{ a: Store; b: Store; clock: ReturnType<typeof fakeClock> }> {
    const clock = fakeClock(START)
    const make = async (): Promise<Store> => {
      let isTold = false
      const onWarning = (): void => void (isTold = true)
      const store = redisStore(own, { prefix, timeout: 20_000, clock, onWarning })
      await store.take([on('first', '10/1h')])
      await until('it is known', 5000, async () => isTold)
      return store
    }
    return { a: await make(), b: await make(), clock }
  }

  const spentBy = async (store: Store, check: Check): Promise<void> => {
    for (let i = 0; i < check.limit.burst; i++) await store.take([check])
    expect((await takeOne(store, check)).allowed).toBe(false)
  }
  const drop = async (prefix: string): Promise<void> => {
    const names = await own.keys(`${prefix}{hot}*`)
    if (names.length > 0) await own.del(names)
  }
  const hot = (algorithm: AlgorithmName, more: Partial<Check> = {}): Check => ({
    ...on('hot', '5/10min', { algorithm }),
    ...more,
  })

  it.each(COUNTED)(
    '%s: a dropped count is put back by who knows that it was spent',
    async (algorithm) => {
      const prefix = `back-${algorithm}:`
      const { a, b, clock } = await twoPods(prefix)
      const check = hot(algorithm)
      await spentBy(a, check)
      const [before] = await a.peek([check])
      for (let time = 0; time < 4; time++) {
        await drop(prefix)
        clock.advance(HOLD)
        expect((await takeOne(a, check)).allowed).toBe(false)
        // For everybody.
        expect((await takeOne(b, check)).allowed).toBe(false)
      }
      const [after] = await a.peek([check])
      expect(after!.resetAfter).toBe(before!.resetAfter - 4 * HOLD)
    },
  )

  it.each(COUNTED)('%s: time gives back what it would have', async (algorithm) => {
    const prefix = `time-${algorithm}:`
    const { a, clock } = await twoPods(prefix)
    const check = hot(algorithm)
    await spentBy(a, check)
    const { retryAfter } = await takeOne(a, check)
    clock.advance(HOLD)
    await drop(prefix)
    await takeOne(a, check)
    clock.advance(retryAfter! - HOLD - 1)
    expect((await takeOne(a, check)).allowed).toBe(false)
    clock.advance(1)
    expect((await takeOne(a, check)).allowed).toBe(true)
  })

  it.each(COUNTED)(
    '%s: what another process resets or gives back wholly stays so',
    async (algorithm) => {
      const prefix = `reset-${algorithm}:`
      const { a, b, clock } = await twoPods(prefix)
      const check = hot(algorithm)
      await spentBy(a, check)
      await b.reset([check])
      clock.advance(HOLD)
      expect((await takeOne(a, check)).remaining).toBe(4)
      await a.reset([check])
      await spentBy(a, check)
      await b.refund([{ ...check, cost: 5 }])
      clock.advance(HOLD)
      expect((await takeOne(a, check)).remaining).toBe(4)
    },
  )

  it.each(['token-bucket', 'gcra', 'leaky-bucket'] as const)(
    '%s: what another process gives back in part is not put back once it has ended',
    async (algorithm) => {
      const prefix = `part-${algorithm}:`
      const { a, b, clock } = await twoPods(prefix)
      const check = hot(algorithm, { cost: 5 })
      await a.take([check])
      expect((await takeOne(a, check)).allowed).toBe(false)
      await b.refund([{ ...check, cost: 4 }])
      const [name] = await own.keys(`${prefix}{hot}*`)
      // As long as the whole count would have lived; with a clock of our own, keys live for an hour more.
      expect(await own.pttl(name!)).toBeGreaterThan(600_000 + 3_600_000 - 20_000)
      clock.advance(121_000)
      expect((await takeOne(a, check)).allowed).toBe(true)
    },
  )

  /** A store that knows that the server evicts. */
  async function evictingStore(client: IoredisLike, cluster: boolean): Promise<Store> {
    let isTold = false
    const onWarning = (): void => void (isTold = true)
    const store = redisStore(client, { prefix: 'late:', timeout: 1000, cluster, onWarning })
    await store.take([on('first', '10/1h')])
    await until('it is known', 5000, async () => isTold)
    return store
  }

  it('does not put back what it charged itself in a call that was given up', async () => {
    const answers = holdAnswers(own)
    const store = await evictingStore(answers.client, false)
    const check = on('given up', '1/1h')
    answers.hold()
    await expect(store.take([check])).rejects.toMatchObject({ code: 'store-timeout' })
    answers.release()
    expect((await takeOne(store, check)).allowed).toBe(false)
    await until('it is given back', 5000, async () => (await store.peek([check]))[0]!.remaining > 0)
    // The refusal from memory ends soon.
    await until('it is free', 5000, async () => (await takeOne(store, check)).allowed)
  })

  it('leaves a trace of what a request across slots took until another slot refused', async () => {
    const store = await evictingStore(own, true)
    const spent = on('spent', '1/1h')
    await store.take([spent])
    const verdicts = await store.take([on('taken first', '1/1h'), spent])
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, false])
    // Beside the trace there is the mark of the refund, by which a second arrival of it does nothing.
    const kept = await own.keys('late:{taken first}*')
    expect(kept.filter((name) => /\}[^:]+$/.test(name))).toHaveLength(1)
  })

  it('puts counts back in requests of several rules too, and for those that count refusals', async () => {
    const prefix = 'several:'
    const { a, clock } = await twoPods(prefix)
    const rules = [
      hot('token-bucket'),
      on('everyone', '1000/1h'),
      hot('fixed-window', { countRefused: true }),
    ]
    for (let i = 0; i < 6; i++) await a.take(rules)
    await drop(prefix)
    clock.advance(HOLD)
    const verdicts = await a.take(rules)
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([false, true, false])
    expect(verdicts[1]!.remaining).toBe(995)
  })

  it('leaves no key without an end', async () => {
    const names = await own.keys('*')
    expect(names.length).toBeGreaterThan(0)
    for (const name of names) expect(await own.pttl(name)).toBeGreaterThan(0)
  })
})

describe('a server that keeps its counts', () => {
  it('is believed when a count is gone because it was deleted', async () => {
    const clock = fakeClock(START)
    const store = redisStore(client, {
      prefix: 'kept:',
      timeout: 20_000,
      clock,
      onWarning: noWarning,
    })
    const check = on('hot', '1/1h')
    await store.take([check])
    await store.take([check])
    await client.flushall()
    clock.advance(HOLD)
    expect((await takeOne(store, check)).allowed).toBe(true)
  })
})

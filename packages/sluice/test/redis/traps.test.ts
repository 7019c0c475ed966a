// Mistakes that limiters on Redis are known for, each tried on this one.
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ALGORITHMS, limit } from '../../src/limit/limit.ts'
import { redisKeys } from '../../src/redis/redis-key.ts'
import type { RedisStore } from '../../src/redis/redis-store.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Check } from '../../src/stores/store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { periodAt } from '../../src/time/calendar.ts'
import { left, on, patientStore, takeOne } from './asking.ts'
import { commandCounts, resetCounts } from './command-counts.ts'
import { oneServer } from './one-server.ts'
import { Random, SEED } from './random.ts'

const START = 1_800_000_000_000
const MINUTE = 60_000
const DAY = 86_400_000
const nameOf = redisKeys('sl:')
const redis = oneServer()

const ttlOf = ({ space, key }: Check): Promise<number> =>
  redis.server.cli<number>('PTTL', nameOf(space, key))
/** What a key lives longer under a clock that a test sets. */
const TEST_SPARE = 3_600_000

/** The numbers of verdicts; where they came from differs. */
const numbersOf = (verdicts: readonly object[]): string =>
  JSON.stringify(verdicts, (name, value: unknown) => (name === 'source' ? undefined : value))

describe('trap: a counter and its expiry as two commands leave an immortal key when one is lost', () => {
  it.each(ALGORITHMS)('%s: the first write carries its end', async (algorithm) => {
    const store = patientStore(redis.client)
    await store.peek([on('warm', '1/400d')])
    await resetCounts(redis.server)
    await takeOne(store, on('crash', '3/400d', { algorithm }))
    const writes = Object.entries(await commandCounts(redis.server)).filter(([name]) =>
      /^(set|incr|expire|pexpire|append|hset|zadd)/.test(name),
    )
    expect(writes).toEqual([['set', 1]])
    expect(await ttlOf(on('crash', '3/400d', { algorithm }))).toBeGreaterThan(0)
  })
})

describe('trap: an expiry renewed by every hit makes a window that never ends', () => {
  it('the window ends when it ends', async () => {
    const clock = fakeClock(START)
    const store = patientStore(redis.client, { clock })
    const check = on('steady', '100/min', { algorithm: 'fixed-window' })
    for (let second = 0; second < 60; second++) {
      const verdict = await takeOne(store, check)
      expect(verdict.remaining).toBe(99 - second)
      expect(verdict.resetAfter).toBe(MINUTE - 1000 * second)
      expect(await ttlOf(check)).toBeLessThanOrEqual(MINUTE - 1000 * second + TEST_SPARE)
      clock.advance(1000)
    }
    expect((await takeOne(store, check)).remaining).toBe(99)
  })
})

describe('trap: an expiry that is set when the count is 1 is never set when the first cost is 5', () => {
  it.each(ALGORITHMS)('%s: a first cost of any size has an end', async (algorithm) => {
    const store = patientStore(redis.client)
    for (const cost of [1, 2, 5, 10]) {
      const check = on(`cost ${cost}`, '10/400d', { algorithm, cost })
      expect((await takeOne(store, check)).remaining).toBe(10 - cost)
      expect(await ttlOf(check)).toBeGreaterThan(0)
    }
  })
})

describe('trap: a window whose end is left to the expiry of the key, or counted twice', () => {
  it.each(['fixed-window', 'sliding-log'] as const)(
    '%s: the edge is half-open, with the key still there',
    async (algorithm) => {
      const clock = fakeClock(START)
      const store = patientStore(redis.client, { clock, prefix: 'edge:' })
      const check = on('a', '1/min', { algorithm })
      await takeOne(store, check)
      clock.set(START + MINUTE - 1)
      expect(await takeOne(store, check)).toMatchObject({ allowed: false, retryAfter: 1 })
      clock.set(START + MINUTE)
      expect(await redis.client.exists(redisKeys('edge:')(check.space, check.key))).toBe(1)
      expect((await takeOne(store, check)).allowed).toBe(true)
      clock.set(START + 2 * MINUTE - 1)
      expect((await takeOne(store, check)).allowed).toBe(false)
    },
  )
})

describe('trap: an expiry in whole seconds never enforces a window of less than one', () => {
  it.each([1, 10, 500, 999])('a window of %d ms is enforced', async (window) => {
    const clock = fakeClock(START - (START % window))
    const store = patientStore(redis.client, { clock, prefix: `${window}:` })
    for (const algorithm of ALGORITHMS) {
      const check = on('a', { quota: 2, window, algorithm })
      const allowed: boolean[] = []
      for (let i = 0; i < 3; i++) allowed.push((await takeOne(store, check)).allowed)
      expect([algorithm, ...allowed]).toEqual([algorithm, true, true, false])
    }
    clock.advance(2 * window)
    for (const algorithm of ALGORITHMS) {
      const check = on('a', { quota: 2, window, algorithm })
      expect([algorithm, ...(await left(store, check))]).toEqual([algorithm, 2])
    }
  })
})

describe('trap: read, compare and write in separate calls let racers through', () => {
  it.each(ALGORITHMS)('%s: ten stores at once admit exactly the quota', async (algorithm) => {
    const clients = Array.from({ length: 10 }, () => new Redis(redis.server.url))
    const check = on('race', '150/400d', { algorithm })
    const racers = clients.map((client) => patientStore(client))
    const verdicts = await Promise.all(
      racers.flatMap((store) => Array.from({ length: 40 }, () => takeOne(store, check))),
    )
    expect(verdicts.filter(({ allowed }) => allowed).length).toBe(150)
    for (const client of clients) client.disconnect()
  })
})

describe('trap: a process whose clock is wrong counts in another period of the calendar', () => {
  it.each([false, true])('the clock of the server decides, with holds: %s', async (holds) => {
    const calendar = { calendar: 'month', timeZone: 'Asia/Kolkata' } as const
    const made = limit({ quota: 9, ...calendar })
    const check: Check = { space: `of ${holds}`, key: 'a', limit: made, cost: 1, holds }
    const right = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now')
    onTestFinished(() => clock.mockRestore())
    const { end } = periodAt(calendar, Date.now())
    const seen: unknown[] = []
    for (const days of [25, -25, 0]) {
      clock.mockImplementation(() => right() + days * DAY)
      const store = patientStore(redis.client) as RedisStore
      const { verdicts } = await store.exchange([], [check])
      const { at, remaining, resetAfter } = verdicts[0]!
      seen.push([remaining, at + resetAfter])
    }
    expect(seen).toEqual([8, 7, 6].map((remaining) => [remaining, end]))
  })
})

describe('trap: numbers that Lua prints with 14 digits, or returns cut to whole ones', () => {
  it.each(ALGORITHMS)('%s: the largest numbers come through whole', async (algorithm) => {
    const clock = fakeClock(1_800_000_000_123)
    const window = algorithm === 'sliding-log' ? 2 ** 38 + 1 : 1_000_003
    const quota = algorithm === 'sliding-log' ? 9973 : Math.floor(2 ** 52 / window)
    const memory = memoryStore({ clock })
    const store = patientStore(redis.client, { clock, prefix: 'large:' })
    const check: Check = {
      space: 'large',
      key: algorithm,
      limit: limit({ algorithm, quota, window }),
      cost: 1,
    }
    for (const cost of [quota - 7, 1, 3, 4, quota, 1]) {
      const expected = memory.take([{ ...check, cost }])
      const got = await store.take([{ ...check, cost }])
      expect(numbersOf(got)).toBe(numbersOf(expected))
      clock.advance(1237)
    }
    memory.close()
  })

  it('whole instants of the year 100,000 come through', async () => {
    const now = 3_093_527_980_800_001
    const store = patientStore(redis.client, { clock: () => now, prefix: 'far:' })
    for (const algorithm of ALGORITHMS) {
      const [verdict] = await store.take([on('a', '3/min', { algorithm })])
      expect([algorithm, verdict?.at, verdict?.remaining]).toEqual([algorithm, now, 2])
    }
  })
})

describe('trap: an answer remembered on this side that outlives the window', () => {
  it('every request is asked of the server', async () => {
    const clock = fakeClock(START)
    const store = patientStore(redis.client, { clock, prefix: 'cache:' })
    const check = on('a', '1/min', { algorithm: 'fixed-window' })
    await takeOne(store, check)
    for (let i = 0; i < 5; i++) expect((await takeOne(store, check)).allowed).toBe(false)
    await patientStore(redis.client, { clock, prefix: 'cache:' }).reset([check])
    expect((await takeOne(store, check)).allowed).toBe(true)
    clock.advance(MINUTE)
    expect((await takeOne(store, check)).allowed).toBe(true)
  })
})

describe('trap: keys joined without care, or as long as a client likes', () => {
  const awkward = [
    '',
    'a',
    'a:b',
    ':',
    '{',
    '}',
    '{}',
    '{a}',
    'a}b',
    '~#',
    '~#a',
    '~',
    '\0',
    '\n',
    ' ',
    'ключ',
    '🙂',
    '\ud800',
    '\udfff',
    '\ud800\ud800',
    '\ufffd',
    'x'.repeat(64),
    'x'.repeat(65),
    'x'.repeat(100_000),
    'ж'.repeat(64),
    '漢'.repeat(64),
    '🙂'.repeat(32),
  ]

  it('different counts have different names, none above 128 bytes', () => {
    const random = new Random(SEED)
    const letters = ['a', 'b', ':', '{', '}', '~', '#', '\ud83d', '\ude42', 'ж', '漢']
    const drawn = Array.from({ length: 5000 }, () =>
      Array.from({ length: random.whole(0, 40) }, () => random.pick(letters)).join(''),
    )
    const keys = [...new Set([...awkward, ...drawn])]
    const name = redisKeys('p'.repeat(32))
    const names = ['one', 'two', 'one:', ''].flatMap((space) => keys.map((key) => name(space, key)))
    const bytes = names.map((one) => Buffer.from(one))
    expect(new Set(bytes.map((one) => one.toString('hex'))).size).toBe(4 * keys.length)
    expect(Math.max(...bytes.map((one) => one.length))).toBeLessThanOrEqual(128)
  })

  it('are counted apart by the server', async () => {
    const store = patientStore(redis.client, { prefix: 'awkward:' })
    for (let round = 1; round <= 2; round++) {
      const verdicts = await Promise.all(awkward.map((key) => takeOne(store, on(key, '9/400d'))))
      expect(verdicts.map(({ remaining }) => remaining)).toEqual(awkward.map(() => 9 - round))
    }
    const stored = await redis.server.cli<string[]>('KEYS', 'awkward:*')
    expect(stored.length).toBe(awkward.length)
  })

  it('prefixes keep two stores apart', async () => {
    await takeOne(patientStore(redis.client, { prefix: 'p1:' }), on('a', '9/400d'))
    expect(await left(patientStore(redis.client, { prefix: 'p2:' }), on('a', '9/400d'))).toEqual([
      9,
    ])
  })
})

describe('trap: old state read with new parameters after a change of configuration', () => {
  it.each(ALGORITHMS)(
    '%s: quota and burst bound what is left, and come back',
    async (algorithm) => {
      const clock = fakeClock(START)
      const store = patientStore(redis.client, { clock, prefix: 'reload:' })
      const at = (quota: number): Check => on('a', { quota, window: MINUTE, algorithm })
      await takeOne(store, { ...at(10), cost: 8 })
      const seen: number[] = []
      for (const quota of [10, 4, 20, 10]) seen.push(...(await left(store, at(quota))))
      expect(seen).toEqual([2, 0, 12, 2])
      // Charged under the smaller limit, what was above it is still counted.
      await takeOne(store, { ...at(4), countRefused: true })
      expect(await left(store, at(10))).toEqual([2])
    },
  )

  it('a value of another algorithm under the same name is read within the new limit', async () => {
    const clock = fakeClock(START)
    const store = patientStore(redis.client, { clock, prefix: 'other:' })
    for (const from of ALGORITHMS) {
      for (const to of ALGORITHMS) {
        const check = (algorithm: typeof from): Check => ({
          space: 'one space for all',
          key: `${from} ${to}`,
          limit: limit({ quota: 10, window: MINUTE, algorithm }),
          cost: 3,
        })
        await takeOne(store, check(from))
        const verdict = await takeOne(store, check(to))
        expect(verdict.remaining).toBeGreaterThanOrEqual(0)
        expect(verdict.remaining).toBeLessThanOrEqual(10)
        expect(verdict.resetAfter).toBeLessThanOrEqual(2 * MINUTE)
      }
    }
  })
})

describe('trap: a clock set back, and a state read before another check of the request wrote it', () => {
  it.each(ALGORITHMS)('%s: what one check counted, its twin does not undo', async (algorithm) => {
    const clock = fakeClock(START)
    const stores = [memoryStore({ clock }), patientStore(redis.client, { clock, prefix: 'twins:' })]
    const check = on('a', { quota: 5, window: MINUTE, algorithm }, { cost: 3 })
    const twins = [
      { ...check, shadow: true, countRefused: true },
      { ...check, cost: 6 },
    ]
    const seen: [string, number[]][] = []
    for (const store of stores) {
      clock.set(START)
      await store.take([{ ...check, cost: 2 }])
      clock.set(START - 5 * MINUTE)
      const verdicts = numbersOf(await store.take(twins))
      seen.push([verdicts, await left(store, check)])
    }
    expect(seen[1]).toEqual(seen[0])
    // Two units were there, three were counted for the first check, and its twin can never fit.
    expect(seen[0]![1]).toEqual([0])
  })
})

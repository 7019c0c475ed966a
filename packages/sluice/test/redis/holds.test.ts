// Counts with units out: Redis and memory agree to the last bit over random walks, and keys outlive their holds.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import { algorithmOf } from '../../src/algorithms/table.ts'
import { ALGORITHMS, limit, type AlgorithmName, type Limit } from '../../src/limit/limit.ts'
import type { RedisClient } from '../../src/redis/client.ts'
import { redisKeys } from '../../src/redis/redis-key.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import type { HeldVerdict } from '../../src/stores/holds/held-verdict.ts'
import type { Exchanged, Settlement } from '../../src/stores/holds/hold-store.ts'
import { withHolds } from '../../src/stores/holds/with-holds.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Check } from '../../src/stores/store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { oneServer } from './one-server.ts'
import { Random, SEED } from './random.ts'

const redis = oneServer()
// The memory store's sweeper runs every second of real time. On a clock that is set back, what is known of an expired
// count would depend on whether it had run in between.
beforeAll(() => void vi.useFakeTimers({ toFake: ['setInterval'] }))
afterAll(() => void vi.useRealTimers())
const STEPS = lengthOf(1000, 20_000)
const HELD = ALGORITHMS.filter((algorithm) => algorithmOf({ algorithm }).canHold)

const NONE = { out: 0, leased: 0, nextEnd: 0, lastEnd: 0 }

let stores = 0
function redisWith(clock: () => number, client: RedisClient = redis.client) {
  const prefix = `holds-${stores++}:`
  return redisStore(client, { clock, prefix, timeout: 60_000, onWarning: () => {} })
}

describe.each(HELD)('%s', (algorithm) => {
  it('answers every exchange as the memory store does', async () => {
    const random = new Random(SEED)
    let refused = 0
    for (let done = 0; done < STEPS;) {
      const clock = fakeClock()
      const memory = withHolds(memoryStore({ clock }))
      const server = redisWith(clock)
      const places = placesOf(() => limitOf(algorithm, random))
      let now = 1_800_000_000_000
      for (let i = 0; i < 150; i++, done++) {
        const { window } = random.pick(places).limit
        now += random.chance(0.03) ? -random.whole(0, 3 * window) : random.whole(0, window / 2)
        clock.set(now)
        const [settlements, checks] = exchangeOn(places, random)
        const expected = memory.exchange(settlements, checks)
        const got = await server.exchange(settlements, checks)
        expect(plain(got), `seed ${SEED}, step ${done}`).toEqual(plain(expected))
        if (expected.verdicts.some(({ allowed }) => !allowed)) refused += 1
        const looks = checks.map((check) => ({ ...check, hold: undefined }))
        const shown = { settled: [], verdicts: await server.peek(looks) }
        expect(plain(shown)).toEqual(plain({ settled: [], verdicts: memory.peek(looks) }))
      }
    }
    expect(refused / STEPS).toBeGreaterThan(0.05)
    expect(refused / STEPS).toBeLessThan(0.9)
  }, 120_000)
})

describe('requests of the simple kind, which the short part of the script decides', () => {
  it.each(['token-bucket', 'fixed-window', 'calendar', 'leaky-bucket'] as const)(
    'are answered as by the memory store, many in one call: %s',
    async (kind) => {
      const random = new Random(SEED + 1)
      const limitFor = (): Limit =>
        kind === 'calendar'
          ? limit({ quota: random.whole(1, 60), window: 'day', timeZone: 'Asia/Kathmandu' })
          : limitOf(kind, random)
      for (let done = 0; done < STEPS / 8;) {
        const clock = fakeClock()
        const memory = withHolds(memoryStore({ clock }))
        const server = redisWith(clock)
        const plainLimit = limitOf('token-bucket', random)
        const places = placesOf(limitFor).map((place) =>
          place.holds === true ? place : { ...place, limit: plainLimit },
        )
        const { window } = places[0]!.limit
        let now = 1_800_000_000_000
        for (let i = 0; i < 40; i++, done++) {
          now += random.whole(0, random.chance(0.1) ? window / 2 : 3)
          if (random.chance(0.01)) now -= random.whole(1, 5)
          clock.set(now)
          const requests = Array.from({ length: 8 }, () => simpleExchangeOn(places, random))
          const expected = requests.map((request) => plain(memory.exchange(...request)))
          const got = await Promise.all(requests.map((request) => server.exchange(...request)))
          expect(got.map(plain), `seed ${SEED}, step ${done}`).toEqual(expected)
        }
      }
    },
    120_000,
  )
})

describe('requests on leases, which another short part of the script decides', () => {
  it.each(['token-bucket', 'gcra', 'leaky-bucket'] as const)(
    'are answered as by the memory store, many in one call: %s',
    async (algorithm) => {
      const random = new Random(SEED + 3)
      for (let done = 0; done < STEPS / 8;) {
        const clock = fakeClock()
        const memory = withHolds(memoryStore({ clock }))
        const server = redisWith(clock)
        const places = placesOf(() => limitOf(algorithm, random)).slice(0, 3)
        const { window } = places[0]!.limit
        let now = 1_800_000_000_000
        for (let i = 0; i < 40; i++, done++) {
          now += random.whole(0, random.chance(0.1) ? window / 2 : 3)
          if (random.chance(0.01)) now -= random.whole(1, 5)
          clock.set(now)
          const requests = Array.from({ length: 8 }, () => leaseExchangeOn(places, random))
          const expected = requests.map((request) => plain(memory.exchange(...request)))
          const got = await Promise.all(requests.map((request) => server.exchange(...request)))
          expect(got.map(plain), `seed ${SEED}, step ${done}`).toEqual(expected)
        }
      }
    },
    120_000,
  )

  it('keep a count as long as anything of it matters, although few of them set its expiry', async () => {
    const clock = fakeClock(1_800_000_000_000)
    const server = redisWith(clock)
    const place = { space: 's', key: 'k', limit: limit('10/min'), holds: true, shadow: true }
    const part = { ...place, cost: 1, partial: true }
    const hold = { id: 'a', life: 100_000, onEnd: 'spent', fair: true } as const
    const [name] = await names(async () => server.exchange([], [part]))
    const lives = async (): Promise<number> => (await redis.client.pttl(name!)) - 3_600_000
    expect(await lives()).toBeGreaterThanOrEqual(6000)
    await server.exchange([], [{ ...place, cost: 4, hold }])
    expect(await lives()).toBeGreaterThanOrEqual(100_000)
    const before = await lives()
    await server.exchange([{ ...place, id: 'a', spent: 1, keep: 0 }], [])
    expect(await lives()).toBeGreaterThan(before - 60_000)
  })
})

/** Units spent in part, leased, and settled, each request on one count. */
function leaseExchangeOn(
  places: readonly Check[],
  random: Random,
): [readonly Settlement[], readonly Check[]] {
  const place = random.pick(places)
  const id = `id-${random.whole(0, 5)}`
  if (random.chance(0.3)) {
    const keep = random.pick([0, 2, Number.MAX_SAFE_INTEGER])
    return [[{ ...place, id, spent: random.whole(0, 3), keep }], []]
  }
  const life = random.pick([5, 100, 60_000])
  // Now and then another kind, which the rest of the script decides.
  const late = random.chance(0.02) ? 50 : 0
  const kind = random.chance(0.02)
    ? ({ onEnd: 'free' } as const)
    : ({ onEnd: 'spent', fair: true } as const)
  const hold = { id, life, late, ...kind }
  const lease = { ...place, cost: random.whole(1, 12), shadow: true, hold }
  const cost = random.chance(0.5) ? 1 : random.whole(1, 6)
  const part = { ...place, cost, shadow: true, partial: true }
  const whole = { ...place, cost: random.whole(0, 6), shadow: random.chance(0.2) }
  return [[], random.pick([[lease], [part], [part, lease], [whole]])]
}

/** The keys that a call has made. */
async function names(call: () => Promise<unknown>): Promise<readonly string[]> {
  const before = new Set(await redis.client.keys('*'))
  await call()
  return (await redis.client.keys('*')).filter((name) => !before.has(name))
}

describe('requests of one hold each, which the shortest part of the script decides', () => {
  it.each(['token-bucket', 'gcra', 'leaky-bucket'] as const)(
    'are answered as by the memory store, many in one call: %s',
    async (algorithm) => {
      const random = new Random(SEED + 2)
      // In front of the first request that the rest of the script decides.
      const REST = -9
      const replies = { short: 0, rest: 0 }
      const evalsha = async (hash: string, count: number, ...rest: string[]): Promise<unknown> => {
        const reply = (await redis.client.evalsha(hash, count, ...rest)) as unknown[]
        if (rest[count]?.startsWith('h') === true)
          replies[reply.includes(REST) ? 'rest' : 'short'] += 1
        return reply
      }
      const client = { evalsha, eval: redis.client.eval.bind(redis.client) }
      for (let done = 0; done < STEPS / 8;) {
        const ids = { next: 0 }
        const clock = fakeClock()
        const memory = withHolds(memoryStore({ clock }))
        const server = redisWith(clock, client)
        const places = placesOf(() => limitOf(algorithm, random)).slice(0, 3)
        const { window } = places[0]!.limit
        let now = 1_800_000_000_000
        for (let i = 0; i < 40; i++, done++) {
          now += random.whole(0, random.chance(0.1) ? Math.max(window / 2, 12_000) : 3)
          if (random.chance(0.01)) now -= random.whole(1, 5)
          clock.set(now)
          const requests = Array.from({ length: 8 }, () => singleExchangeOn(places, random, ids))
          const expected = requests.map((request) => plain(memory.exchange(...request)))
          const got = await Promise.all(requests.map((request) => server.exchange(...request)))
          expect(got.map(plain), `seed ${SEED}, step ${done}`).toEqual(expected)
        }
      }
      expect(replies.short).toBeGreaterThan(STEPS / 40)
      expect(replies.rest).toBeGreaterThan(0)
    },
    120_000,
  )

  it('fail alone, with the others of their call decided', async () => {
    const server = redisStore(redis.client, {
      prefix: 'wrong:',
      timeout: 60_000,
      onWarning: () => {},
    })
    await redis.client.set(redisKeys('wrong:')('s', 'b'), 'of another type', 'PX', 60_000)
    const takes = ['a', 'b', 'c'].map((key, i) => {
      const id = `0123456789abcde${i}`
      const hold = { id, life: 60_000, onEnd: 'free' as const, isNew: true }
      return server.exchange(
        [],
        [{ space: 's', key, limit: limit('5/min'), cost: 2, holds: true, hold }],
      )
    })
    const ended = await Promise.allSettled(takes)
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('keep the fields of a count in a table when many of them are remembered', async () => {
    const server = redisStore(redis.client, {
      prefix: 'many:',
      timeout: 60_000,
      onWarning: () => {},
    })
    const place = { space: 's', key: 'k', limit: limit('1000/day'), cost: 1, holds: true }
    const key = redisKeys('many:')('s', 'k')
    const hold = { life: 60_000, onEnd: 'free', late: 60_000, isNew: true } as const
    const settleNext = async (name: string): Promise<void> => {
      const id = name.padEnd(16, '0')
      await server.exchange([], [{ ...place, hold: { ...hold, id } }])
      await server.exchange([{ ...place, id, spent: 1, keep: 0 }], [])
    }
    for (let i = 0; i < 61; i++) await settleNext(`B${i}-`)
    await settleNext('A1')
    expect(await redis.client.object('ENCODING', key)).toBe('listpack')
    await settleNext('B62-')
    await settleNext('A2')
    expect(await redis.client.object('ENCODING', key)).toBe('hashtable')
    const { settled } = await server.exchange(
      [{ ...place, id: 'A2'.padEnd(16, '0'), spent: 1, keep: 0 }],
      [],
    )
    expect(settled[0]).toMatchObject({ status: 'repeated', charged: 1 })
    expect((await server.peek([place]))[0]!.remaining).toBe(1000 - 64)
  })

  it('hold once if a client sends them twice', async () => {
    const evalsha = async (...sent: [string, number, ...string[]]): Promise<unknown> => {
      await redis.client.evalsha(...sent)
      return redis.client.evalsha(...sent)
    }
    const client = { evalsha, eval: redis.client.eval.bind(redis.client) }
    const server = redisStore(client, { prefix: 'twice:', timeout: 60_000, onWarning: () => {} })
    const place = { space: 's', key: 'k', limit: limit('10/min'), cost: 4, holds: true }
    const ends = { life: 60_000, onEnd: 'free', late: 60_000 } as const
    const held = (id: string): Promise<Exchanged> =>
      server.exchange([], [{ ...place, hold: { id, ...ends, isNew: true } }])
    // A server that does not know the script yet gets it by another command.
    await held('0123456789abcdef')
    await server.reset([place])
    const [verdict] = (await held('0123456789abcde0')).verdicts
    expect((verdict as HeldVerdict).numbers.out).toBe(4)
    const [peeked] = await server.peek([place])
    expect(peeked!.remaining).toBe(6)
    const { settled } = await server.exchange(
      [{ ...place, id: '0123456789abcde0', spent: 4, keep: 0 }],
      [],
    )
    expect(settled[0]).toMatchObject({ status: 'repeated', charged: 4 })
    expect((await server.peek([place]))[0]!.remaining).toBe(6)
  })
})

/** A take of a new hold that comes free at its end, or a settlement of one; ids are as long as those of reservations. */
function singleExchangeOn(
  places: readonly Check[],
  random: Random,
  ids: { next: number },
): [readonly Settlement[], readonly Check[]] {
  const place = random.pick(places)
  const isSettlement = random.chance(0.5)
  const number = isSettlement ? Math.max(0, ids.next - random.whole(0, 12)) : ++ids.next
  const id = `reservation-${String(number).padStart(4, '0')}`
  if (isSettlement) {
    const debt = random.chance(0.3) ? 20 : 0
    return [[{ ...place, id, spent: random.whole(0, 12), keep: 0, debt }], []]
  }
  const late = random.pick([0, 50, 600_000])
  const life = random.pick([5, 100, 60_000])
  const hold = { id, life, onEnd: 'free' as const, late, isNew: true }
  return [[], [{ ...place, cost: random.whole(1, 6), hold }]]
}

/** Takes of holds that come free at their end on different counts, or settlements. */
function simpleExchangeOn(
  places: readonly Check[],
  random: Random,
): [readonly Settlement[], readonly Check[]] {
  const id = `id-${random.whole(0, 30)}`
  const chosen = places.filter(() => random.chance(0.5))
  if (random.chance(0.5)) {
    const spent = random.whole(0, 12)
    const keep = random.chance(0.7) ? 0 : random.pick([3, Number.MAX_SAFE_INTEGER])
    const life = random.chance(0.3) ? random.whole(1, 1000) : undefined
    const debt = random.chance(0.3) ? 20 : 0
    const held = chosen.filter(({ holds }) => holds === true)
    return [held.map((place) => ({ ...place, id, spent, keep, life, debt })), []]
  }
  const late = random.pick([0, 50, 600_000])
  const hold = { id, life: random.pick([5, 100, 60_000]), onEnd: 'free' as const, late }
  return [
    [],
    chosen.map((place) => {
      const cost = random.whole(1, 6)
      return place.holds === true ? { ...place, cost, hold } : { ...place, cost }
    }),
  ]
}

/** Three counts with holds and a plain one. */
function placesOf(limitFor: () => Limit): readonly Check[] {
  return ['a', 'b', 'c', 'plain'].map((space) => ({
    space,
    key: 'k',
    limit: limitFor(),
    cost: 1,
    holds: space !== 'plain',
  }))
}

function limitOf(algorithm: AlgorithmName, random: Random): Limit {
  const window = random.pick([7, 1000, 60_000, 86_400_000])
  const quota = random.whole(1, 40)
  const burst = algorithmOf({ algorithm }).hasBurst ? random.whole(1, 40) : quota
  return limit({ algorithm, quota, window, burst })
}

function exchangeOn(
  places: readonly Check[],
  random: Random,
): [readonly Settlement[], readonly Check[]] {
  const id = (): string => `id-${random.whole(0, 9)}`
  const settlements: Settlement[] = []
  for (let n = random.whole(0, 2); n > 0; n--) {
    const place = random.pick(places.slice(0, 3))
    settlements.push({
      ...place,
      id: id(),
      spent: random.whole(0, 30),
      keep: random.chance(0.6) ? 0 : random.whole(0, 20),
      ...(random.chance(0.5) ? { life: random.whole(1, place.limit.window) } : {}),
      ...(random.chance(0.3) ? { debt: random.whole(0, 60) } : {}),
    })
  }
  const checks: Check[] = []
  for (let n = random.whole(0, 3); n > 0; n--) {
    const place = random.pick(places)
    const hold = {
      id: id(),
      life: random.whole(1, 2 * place.limit.window),
      onEnd: random.pick(['free', 'spent'] as const),
      late: random.pick([0, 5000, place.limit.window]),
    }
    checks.push({
      ...place,
      cost: random.whole(0, 12),
      shadow: random.chance(0.1),
      countRefused: random.chance(0.1),
      ...(place.holds === true && random.chance(0.7) ? { hold } : {}),
    })
  }
  return [settlements, checks]
}

/** The answers without what tells the stores apart. */
function plain({ settled, verdicts }: Exchanged): unknown {
  const numbers = verdicts.map((verdict) => {
    const { allowed, remaining, retryAfter, resetAfter, availableAfter, at } = verdict
    const { out, leased, nextEnd, lastEnd } = (verdict as Partial<HeldVerdict>).numbers ?? NONE
    const held = { out, leased, nextEnd, lastEnd }
    return { allowed, remaining, retryAfter, resetAfter, availableAfter, at, held }
  })
  return { settled, verdicts: numbers }
}

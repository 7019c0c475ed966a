import { describe, expect, it } from 'vitest'
import {
  withCoordination,
  type CoordinationOptions,
} from '../../src/coordination/with-coordination.ts'
import type { CoordinationEvent } from '../../src/coordination/options.ts'
import { LeaseClock } from '../../src/coordination/lease-clock.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { limit } from '../../src/limit/limit.ts'
import type { Verdict } from '../../src/limit/verdict.ts'
import type { Limiter } from '../../src/limiter/limiter.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import { withHolds } from '../../src/stores/holds/with-holds.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Check, RemoteStore } from '../../src/stores/store.ts'
import { fakeClock, type FakeClock } from '../../src/testing/fake-clock.ts'
import { oneServer } from '../redis/one-server.ts'
import { Random } from '../redis/random.ts'

const redis = oneServer()
const START = 1_800_000_000_000
let stores = 0

/** A store with leases on the server, whose time is the given one. */
function coordinated(
  clock: FakeClock,
  prefix = `leases-${stores++}:`,
  options: CoordinationOptions = {},
): RemoteStore {
  const store = redisStore(redis.client, { clock, prefix, timeout: 60_000, onWarning: () => {} })
  return withCoordination(store, options, { clock: new LeaseClock(clock, clock) })
}

function leasedLimiter(store: RemoteStore): Limiter {
  const rule = { name: 'api', by: ['user'], limit: '1000/s', coordination: 'leased' } as const
  return createLimiter({
    policy: { name: 'p', rules: [{ ...rule, onStoreFailure: 'closed' }] },
    store,
    resilience: { onEvent: () => {} },
  })
}

function seen({ allowed, held = 0, remaining }: Verdict): object {
  return { allowed, held, remaining }
}

const USER = { user: 'ada' }

/** Checks until the process holds a lease. */
async function warm(limiter: Limiter, clock: FakeClock): Promise<void> {
  for (let i = 0; i < 20; i++) {
    await limiter.check(USER)
    clock.advance(2)
  }
}

describe('leases on Redis', () => {
  it('are not granted for one life after the first use of a server, while the rule decides', async () => {
    const clock = fakeClock(START)
    const limiter = leasedLimiter(coordinated(clock))
    expect(await limiter.check(USER)).toMatchObject({ allowed: false, cause: 'store-learning' })
    clock.advance(1999)
    expect(await limiter.check(USER)).toMatchObject({ allowed: false, cause: 'store-learning' })
    clock.advance(1)
    expect(await limiter.check(USER)).toMatchObject({ allowed: true, degraded: false })
    await limiter.close()
  })

  it('answer at once, by promise or without, and say where an answer does not come from here', async () => {
    const clock = fakeClock(START)
    const store = coordinated(clock)
    const limiter = leasedLimiter(store)
    await limiter.check(USER)
    clock.advance(2000)
    expect(limiter.checkNow(USER)).toBeUndefined()
    await warm(limiter, clock)
    const decision = limiter.checkNow(USER)
    expect(decision).toMatchObject({ allowed: true })
    expect(decision!.outcomes[0]!.source).toBe('lease')
    expect((await limiter.check(USER)).outcomes[0]!.source).toBe('lease')
    await limiter.close()
  })

  it('under auto begin with demand and end near the limit; spent keys are answered from the cache', async () => {
    const clock = fakeClock(START)
    const events: CoordinationEvent[] = []
    const store = coordinated(clock, undefined, { onEvent: (event) => void events.push(event) })
    const rule = { name: 'api', by: ['user'], limit: '400/h', coordination: 'auto' } as const
    const policy = { name: 'p', rules: [{ ...rule, onStoreFailure: 'closed' }] } as const
    const limiter = createLimiter({ policy, store, resilience: { onEvent: () => {} } })
    await limiter.check(USER)
    clock.advance(2000)
    const sources = async (requests: number, every: number): Promise<Set<string>> => {
      const seen = new Set<string>()
      for (let i = 0; i < requests; i++) {
        clock.advance(every)
        const { outcomes } = limiter.checkNow(USER) ?? (await limiter.check(USER))
        seen.add(`${outcomes[0]!.allowed ? 'allowed' : 'refused'} by ${outcomes[0]!.source}`)
      }
      return seen
    }
    expect(await sources(5, 1000)).toEqual(new Set(['allowed by store']))
    expect(events).toEqual([])
    expect(await sources(200, 2)).toContain('allowed by lease')
    await sources(250, 2)
    expect(events.map(({ type, reason }) => `${type}: ${reason}`)).toEqual([
      'leasing: demand',
      'strict: near-limit',
    ])
    expect(events[0]).toMatchObject({ key: expect.stringContaining('ada') })
    expect(await sources(50, 1)).toEqual(new Set(['refused by cache']))
    const refused = await limiter.check(USER)
    expect(refused).toMatchObject({ allowed: false, remaining: 0 })
    expect(refused.outcomes[0]).toMatchObject({ source: 'cache', remaining: 0 })
    await limiter.close()
  })

  it('are given back when the store is closed', async () => {
    const clock = fakeClock(START)
    const prefix = `leases-${stores++}:`
    const [first, second] = [coordinated(clock, prefix), coordinated(clock, prefix)]
    const limiter = leasedLimiter(first)
    await limiter.check(USER)
    clock.advance(2000)
    await warm(limiter, clock)
    const other = leasedLimiter(second)
    const before = (await other.peek(USER)).remaining
    await first.close()
    expect((await other.peek(USER)).remaining).toBeGreaterThan(before)
    await Promise.all([limiter.close(), other.close()])
  })

  it('are not granted for one life after the server was restarted', async () => {
    const clock = fakeClock(START)
    const limiter = leasedLimiter(coordinated(clock))
    await limiter.check(USER)
    clock.advance(2000)
    expect(await limiter.check(USER)).toMatchObject({ allowed: true })
    await redis.server.restart()
    await redis.client.ping()
    clock.advance(5000)
    expect(await limiter.check(USER)).toMatchObject({ allowed: false, cause: 'store-learning' })
    clock.advance(2000)
    expect(await limiter.check(USER)).toMatchObject({ allowed: true, degraded: false })
    await limiter.close()
  })

  it('of few units last for many lives while the server answers, and are void when it was restarted', async () => {
    const clock = fakeClock(START)
    const limiter = leasedLimiter(coordinated(clock))
    await limiter.check(USER)
    clock.advance(2000)
    await limiter.check(USER)
    clock.advance(1000)
    await limiter.check(USER)
    for (let i = 0; i < 2; i++) {
      clock.advance(1900)
      expect(await limiter.check({ user: `other ${i}` })).toMatchObject({ allowed: true })
      expect(limiter.checkNow(USER)?.outcomes[0]).toMatchObject({ source: 'lease' })
    }
    await redis.server.restart()
    await redis.client.ping()
    clock.advance(2000)
    expect(limiter.checkNow(USER)).toBeUndefined()
    await limiter.check({ user: 'other' })
    clock.advance(2000)
    expect(await limiter.check({ user: 'other' })).toMatchObject({ allowed: true, degraded: false })
    expect(limiter.checkNow(USER)).toBeUndefined()
    await limiter.close()
  })

  it('of a crowd are not walked through at each call, and count as those of the memory store do', async () => {
    const clock = fakeClock(START)
    const random = new Random(5)
    const memory = withHolds(memoryStore({ clock }))
    const server = redisStore(redis.client, { clock, prefix: 'crowd:', timeout: 60_000 })
    const place = { space: 's', key: 'k', limit: limit('100000/min'), holds: true }
    const walks = async (): Promise<number> => {
      const statistics = await redis.client.info('commandstats')
      return Number(/cmdstat_hgetall:calls=(\d+)/.exec(statistics)?.[1] ?? 0)
    }
    let before = 0
    const steps = 600
    for (let i = 0; i < steps; i++) {
      if (i === steps / 2) before = await walks()
      clock.advance(2)
      const hold = {
        id: `p${i}`,
        life: 400 + random.whole(0, 9),
        onEnd: 'spent',
        fair: true,
      } as const
      const checks: Check[] = [{ ...place, cost: 3, shadow: true, hold }]
      const expected = memory.exchange([], checks)
      const actual = await server.exchange([], checks)
      expect(actual.verdicts.map(seen)).toEqual(expected.verdicts.map(seen))
    }
    // 600 ms of leases that end: one walk in 50 ms, not one for each.
    expect((await walks()) - before).toBeLessThanOrEqual(14)
  })

  it('are as large as those of the memory store, and so are parts of a cost', async () => {
    const clock = fakeClock(START)
    const random = new Random(3)
    const memory = withHolds(memoryStore({ clock }))
    const server = redisStore(redis.client, { clock, prefix: 'fair:', timeout: 60_000 })
    const rules = ['token-bucket', 'fixed-window', 'sliding-window', 'sliding-log'] as const
    for (const algorithm of rules) {
      const rule = limit({ algorithm, quota: 300, window: '1s' })
      for (let i = 0; i < 150; i++) {
        clock.advance(random.whole(0, 60))
        const id = `p${random.whole(1, 6)}`
        const place = { space: algorithm, key: 'k', limit: rule, holds: true }
        const hold = { id, life: random.whole(1, 400), onEnd: 'spent', fair: true } as const
        const settlements = [{ ...place, id, spent: random.whole(0, 5), keep: random.whole(0, 99) }]
        const checks: Check[] = [
          { ...place, cost: random.whole(0, 3) },
          { ...place, cost: random.whole(1, 60), shadow: true, hold },
          {
            ...place,
            cost: random.chance(0.5) ? 1 : random.whole(1, 60),
            shadow: true,
            partial: true,
          },
          { ...place, cost: random.whole(0, 9), shadow: true, partial: true, booked: true },
        ]
        const expected = memory.exchange(settlements, checks)
        const actual = await server.exchange(settlements, checks)
        expect(actual.verdicts.map(seen)).toEqual(expected.verdicts.map(seen))
        expect(actual.settled.map(({ status }) => status)).toEqual(
          expected.settled.map(({ status }) => status),
        )
      }
    }
  })
})

// Limits on trial in Redis: the same answers as in memory, and no round trip more.
import { describe, expect, it } from 'vitest'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { ALGORITHMS } from '../../src/limit/limit.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { commandCounts, resetCounts } from './command-counts.ts'
import { oneServer } from './one-server.ts'
import { Random, SEED } from './random.ts'

const redis = oneServer()
const patient = { timeout: 60_000, onWarning: () => {} }

describe.each(ALGORITHMS)('a candidate by %s in Redis', (algorithm) => {
  it('answers as in memory, whether refusals are remembered or not', async () => {
    const clock = fakeClock(1_800_000_000_000)
    const rule = {
      name: 'user',
      by: ['user'],
      limit: { quota: 4, window: 2000 },
      candidate: { quota: 3, window: 3000, algorithm },
    }
    const other = { name: 'all', by: [], limit: '6/s' } as const
    const policy = { name: 'p', rules: [rule, other] }
    const local = createLimiter({ policy, store: memoryStore({ clock }) })
    const remote = [0, 250].map((holdRefusals) => {
      const prefix = `${algorithm}-${holdRefusals}:`
      const store = redisStore(redis.client, { clock, prefix, holdRefusals, ...patient })
      return createLimiter({ policy, store, resilience: false })
    })
    const random = new Random(SEED)
    for (let i = 0; i < 200; i++) {
      clock.advance(random.whole(0, 500))
      const user = `u${random.whole(0, 1)}`
      const expected = local.check({ user })
      for (const limiter of remote) {
        const decision = await limiter.check({ user })
        expect([i, decision.allowed]).toEqual([i, expected.allowed])
        expect([i, decision.candidates]).toMatchObject([i, expected.candidates])
      }
    }
  })
})

describe('a candidate', () => {
  it('costs no round trip', async () => {
    const rule = { name: 'user', by: ['user'], limit: '50/min', candidate: '5/min' } as const
    const store = redisStore(redis.client, { prefix: 'trip:', ...patient })
    const limiter = createLimiter({ policy: { name: 'p', rules: [rule] }, store })
    await limiter.check({ user: 'warm' })
    await resetCounts(redis.server)
    for (let i = 0; i < 10; i++) await limiter.check({ user: 'a' })
    const { evalsha = 0, eval: evals = 0 } = await commandCounts(redis.server)
    expect(evalsha + evals).toBe(10)
  })
})

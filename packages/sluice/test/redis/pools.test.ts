// Pools on Redis answer as in memory, in one round trip: random walks of several rules, all or none, with refunds.
import { expect, it } from 'vitest'
import type { Decision } from '../../src/decision/decision.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import type { Policy } from '../../src/policy/policy.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { oneServer } from './one-server.ts'
import { Random, SEED } from './random.ts'

const redis = oneServer()

const policy: Policy = {
  name: 'pools',
  rules: [
    {
      name: 'api',
      by: ['user'],
      limit: { quota: 4, window: 1000 },
      pools: [
        { name: 'credits', limit: { quota: 9, window: 5000, algorithm: 'sliding-log', stamps: 3 } },
        { name: 'gift', limit: { quota: 3, window: 'day', timeZone: 'UTC' } },
      ],
    },
    {
      name: 'other',
      by: ['user'],
      limit: { quota: 5, window: 700, algorithm: 'sliding-log' },
      pools: [{ name: 'more', limit: { quota: 4, window: 2000, algorithm: 'sliding-window' } }],
    },
    { name: 'all', by: [], limit: { quota: 40, window: 1000 } },
    { name: 'seen', by: ['user'], limit: { quota: 2, window: 1000 }, shadow: true },
  ],
}

it.each([0, 250])('draws as memory does, with refusals held for %d ms', async (holdRefusals) => {
  const clock = fakeClock(1_800_000_000_000)
  const random = new Random(SEED + holdRefusals)
  const memory = createLimiter({ policy, store: memoryStore({ clock }) })
  const options = { clock, prefix: `pools${holdRefusals}:`, timeout: 60_000, holdRefusals }
  const store = redisStore(redis.client, { ...options, onWarning: () => {} })
  const limiter = createLimiter({ policy, store, resilience: false })
  const paid = new Map<string, number>()
  let last: { at: number; cost: number; user: string; pools: Record<string, string> } | undefined
  for (let step = 0; step < 700; step++) {
    const user = random.pick(['ann', 'bob'])
    const cost = random.pick([0, 1, 1, 1, 2, 3, 5])
    if (last !== undefined && random.chance(0.15)) {
      const { at, pools } = last
      memory.refund({ user: last.user }, last.cost, at, pools)
      await limiter.refund({ user: last.user }, last.cost, at, pools)
      last = undefined
    } else if (random.chance(0.01)) {
      memory.reset({ user })
      await limiter.reset({ user })
    } else {
      const verb = random.chance(0.1) ? 'peek' : 'check'
      const expected = memory[verb]({ user }, cost)
      const got = await limiter[verb]({ user }, cost)
      const { pools, allowed, at } = expected
      expectAlike(step, got, expected)
      if (verb === 'check' && allowed && cost > 0) last = { at, cost, user, pools: { ...pools } }
      for (const [rule, pool] of Object.entries(pools ?? {}))
        paid.set(`${rule} ${pool}`, (paid.get(`${rule} ${pool}`) ?? 0) + 1)
    }
    if (random.chance(0.3)) clock.advance(random.whole(0, 400))
  }
  expect([...paid.keys()].toSorted()).toEqual(['api credits', 'api gift', 'other more'])
  await limiter.close()
  await store.close()
})

function expectAlike(step: number, got: Decision, expected: Decision): void {
  expect([step, shown(got)]).toEqual([step, shown(expected)])
}

/** A decision without what differs between stores. */
function shown(decision: Decision): string {
  return JSON.stringify(decision).replaceAll(/"source":"\w+"/g, '')
}

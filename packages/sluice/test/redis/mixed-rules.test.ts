// Every kind of rule in one request: all or none, and Redis answers as memory does in every field.
import { expect, it } from 'vitest'
import { createBudget } from '../../src/budgets/create-budget.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import { withHolds } from '../../src/stores/holds/with-holds.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { lengthOf } from '../../../../test/length.ts'
import { oneServer } from './one-server.ts'
import { Random, SEED } from './random.ts'

const redis = oneServer()

const policy = {
  name: 'mixed',
  rules: [
    { name: 'tokens', by: ['team'], limit: '250/10s', hold: '3s', debt: 20 },
    {
      name: 'monthly',
      by: ['team'],
      limit: { quota: 30_000, window: 'month', timeZone: 'America/Sao_Paulo', startsOn: 31 },
      hold: '2s',
      weights: { input: 1, cached: 0.5, output: 3 },
    },
    { name: 'at-once', by: ['team'], concurrency: 3, hold: '4s' },
    {
      name: 'logins',
      by: ['user'],
      limit: { quota: 4, window: 2500, algorithm: 'sliding-log' },
      lockout: { after: 2, for: '700ms', grow: 2, upTo: '2s' },
    },
    {
      name: 'calls',
      by: ['user'],
      limit: { quota: 2, window: 2000 },
      pools: [{ name: 'credits', limit: { quota: 40, window: 'day', timeZone: 'UTC' } }],
    },
    {
      name: 'strict',
      by: ['team'],
      limit: { quota: 40_000, window: 60_000, algorithm: 'sliding-log', stamps: 8 },
      cost: 900,
    },
    { name: 'fair-use', by: ['user'], limit: '2/5s', onExceed: 'mark' },
    { name: 'plain', by: [], limit: { quota: 30, window: 5000 } },
    { name: 'stubborn', by: ['user'], limit: { quota: 8, window: 3000 }, countRefused: true },
  ],
} as const

/** Rules that count refusals by themselves; of the others a refusal must change nothing. */
const COUNTS_REFUSALS = ['stubborn', 'logins']

it('decides every kind of rule in one request, all or none, as memory does', async () => {
  const clock = fakeClock(1_800_000_000_000)
  const random = new Random(SEED + 18)
  const memory = withHolds(memoryStore({ clock }))
  const options = { clock, prefix: 'mixed:', timeout: 60_000, holdRefusals: 0 }
  const store = redisStore(redis.client, { ...options, onWarning: () => {} })
  const near = createBudget({ policy, store: memory })
  const far = createBudget({ policy, store, resilience: false })
  const looking = createLimiter({ policy: parsePolicy(policy), store: memory })
  const shown = (value: object): string =>
    JSON.stringify(value)
      .replaceAll(/"source":"\w+"/g, '')
      .replaceAll(/"id":"[^"]*"/g, '')
  const remaining = (who: object): readonly unknown[] =>
    looking
      .peek({ ...who }, 0)
      .outcomes.filter(({ rule }) => !COUNTS_REFUSALS.includes(rule))
      .map((outcome) => [outcome.rule, outcome.remaining])
  const open: { near: string; far: string }[] = []
  const answers = new Map<string, number>()
  const note = (what: string): void => void answers.set(what, (answers.get(what) ?? 0) + 1)

  for (let step = 0; step < lengthOf(700, 6000); step++) {
    const who = { team: random.pick(['red', 'blue']), user: random.pick(['ann', 'bob', 'cid']) }
    const turn = random.next()
    if (turn < 0.5 || open.length === 0) {
      const estimate = random.chance(0.2) ? undefined : random.whole(0, 90)
      const before = remaining(who)
      const expected = near.reserve(who, estimate)
      const got = await far.reserve(who, estimate)
      expectAlike(step, shown(got), shown(expected))
      const { decision } = expected
      note(decision.allowed ? 'allowed' : `${decision.rule} ${decision.reason}`)
      if (decision.pools !== undefined) note('paid by a pool')
      if (decision.marked !== undefined && decision.marked.length > 0) note('marked')
      if (expected.allowed) open.push({ near: expected.id, far: got.id })
      else expectAlike(step, remaining(who), before)
    } else {
      const [ids] = open.splice(random.whole(0, open.length - 1), 1)
      const verb = random.pick([
        'settle',
        'settle',
        'settle',
        'extend',
        'cancel',
        'forget',
      ] as const)
      const actual = random.chance(0.3)
        ? { input: random.whole(0, 20), cached: random.whole(0, 9), output: random.whole(0, 9) }
        : random.whole(0, 120)
      if (verb === 'extend') open.push(ids!)
      if (verb !== 'forget') {
        const act = (budget: typeof near | typeof far, id: string) =>
          verb === 'settle' ? budget.settle(id, actual) : budget[verb](id)
        const twice = verb === 'settle' && random.chance(0.2) ? 2 : 1
        for (let i = 0; i < twice; i++) {
          const expected = await act(near, ids!.near)
          expectAlike(step, shown(await act(far, ids!.far)), shown(expected))
          note(expected.status)
        }
      }
    }
    if (random.chance(0.4)) clock.advance(random.whole(0, 600))
    if (random.chance(0.02)) clock.advance(random.whole(0, 30_000))
  }
  // Each kind of answer has come, so that none was compared in vain.
  const kinds = ['allowed', 'settled', 'late', 'repeated', 'paid by a pool', 'marked']
  const refusals = ['logins locked-out', 'logins over-limit', 'tokens over-limit']
  expect([...answers.keys()]).toEqual(
    expect.arrayContaining([...kinds, ...refusals, 'at-once over-limit']),
  )
  await far.close()
  await store.close()
})

function expectAlike(step: number, got: unknown, expected: unknown): void {
  expect([step, got]).toEqual([step, expected])
}

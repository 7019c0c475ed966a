// A settlement over a failover: whatever the new primary has seen of it, it charges once.
import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'
import { startRedis } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { createBudget } from '../../src/budgets/create-budget.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'

const HOLD = 60_000
const limit = { quota: 1000, window: 86_400_000, algorithm: 'fixed-window' as const }
const policy = { name: 'llm', rules: [{ name: 'tokens', by: ['team'], limit, hold: HOLD }] }

it('is charged once by the replica that takes over, whether or not it had seen it', async () => {
  const [primary, replica] = await Promise.all([startRedis(), startRedis()])
  onTestFinished(primary.stop)
  onTestFinished(replica.stop)
  const clock = fakeClock(1_800_000_000_000)
  const budgetOn = (url: string) => {
    const client = new Redis(url)
    onTestFinished(() => client.disconnect())
    client.on('error', () => {})
    const store = redisStore(client, { clock, timeout: 30_000, onWarning: () => {} })
    return { client, budget: createBudget({ policy, store, resilience: false }) }
  }
  await replica.cli('REPLICAOF', '127.0.0.1', String(primary.port))
  await until('the replica follows', 20_000, async () =>
    /master_link_status:up/.test(await replica.cli('INFO', 'replication')),
  )
  const { client, budget: before } = budgetOn(primary.url)
  const reserved = async () => (await before.reserve({ team: 'a' }, 200)).id
  const [seen, unseen, ended] = [await reserved(), await reserved(), await reserved()]
  await before.settle(seen, 150)
  // WAIT covers the writes of its own connection alone, so the budget's connection sends it.
  expect(await client.wait(1, 20_000)).toBe(1)

  // From here on the replica sees nothing, as in a partition.
  await replica.cli('REPLICAOF', 'NO', 'ONE')
  expect(await before.settle(unseen, 120)).toMatchObject({ status: 'settled', charged: 120 })
  primary.kill('SIGKILL')

  const { budget: after } = budgetOn(replica.url)
  expect(await after.settle(seen, 150)).toMatchObject({ status: 'repeated', charged: 150 })
  expect(await after.settle(unseen, 120)).toMatchObject({ status: 'settled', charged: 120 })
  expect(await after.settle(unseen, 120)).toMatchObject({ status: 'repeated', charged: 120 })
  clock.advance(HOLD)
  expect(await after.settle(ended, 90)).toMatchObject({ status: 'late', charged: 90 })
  expect(await after.settle(ended, 90)).toMatchObject({
    status: 'repeated',
    charged: 90,
    rules: [{ remaining: 1000 - 150 - 120 - 90 }],
  })
}, 60_000)

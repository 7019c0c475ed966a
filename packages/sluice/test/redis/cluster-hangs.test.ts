// A master that hangs, in a real cluster: its keys are soon answered without it, and the others by the store as ever.
import { Cluster } from 'ioredis'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startCluster, type RedisCluster } from '../../../../test/servers/redis-cluster.ts'
import { until } from '../../../../test/servers/until.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { compilePolicy } from '../../src/policy/compile.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { redisKeys } from '../../src/redis/redis-key.ts'
import { redisStore } from '../../src/redis/index.ts'
import { slotOf } from '../../src/redis/slot.ts'

const TIMEOUT = 400

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster({ args: ['--cluster-require-full-coverage', 'no'] })
}, 60_000)
afterAll(() => cluster.stop())

it.each([
  ['first', ['everyone', 'users']],
  ['last', ['users', 'everyone']],
])('although all requests share their %s rule', async (_, order) => {
  const policy = parsePolicy({
    name: 'p',
    rules: order.map((name) => ({
      name,
      by: name === 'users' ? ['user'] : [],
      limit: '1000000/min',
    })),
  })
  const client = new Cluster([{ host: '127.0.0.1', port: cluster.nodes[0]!.port }], {
    enableOfflineQueue: false,
  })
  client.on('error', () => {})
  await new Promise((resolve) => void client.once('ready', resolve))
  const store = redisStore(client, { timeout: TIMEOUT })
  const take = vi.spyOn(store, 'take')
  const limiter = createLimiter({ store, policy })

  const nameOf = redisKeys('sl:')
  const { space } = compilePolicy(policy)[order.indexOf('everyone')]!.base!
  const shared = await cluster.nodeFor(slotOf(nameOf(space, '')))
  const hanging = cluster.nodes.find(({ port }) => port !== shared.port)!
  const lost: string[] = []
  const well: string[] = []
  for (let i = 0; lost.length < 1 || well.length < 3; i++) {
    const { port } = await cluster.nodeFor(slotOf(`{user ${i}}`))
    ;(port === hanging.port ? lost : well).push(`user ${i}`)
  }
  hanging.kill('SIGSTOP')
  try {
    let atOnce = 0
    await until('its keys are answered without it', 20_000, async () => {
      await Promise.all(well.slice(0, 3).map((user) => limiter.check({ user })))
      take.mockClear()
      const { degraded } = await limiter.check({ user: lost[0]! })
      if (degraded && take.mock.calls.length === 0) atOnce += 1
      return atOnce >= 5
    })
    await until('the others are answered by the store', 5000, async () => {
      const answers = await Promise.all(well.slice(0, 3).map((user) => limiter.check({ user })))
      return answers.every(({ degraded }) => !degraded)
    })
    expect((await limiter.peek({ user: lost[0]! })).degraded).toBe(true)
  } finally {
    hanging.kill('SIGCONT')
    client.disconnect()
    await limiter.close()
  }
})

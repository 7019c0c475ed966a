// Budgets over Redis: wrong estimates, crashes and a restart of the server charge no more than the limit and its debt.
import { createBudget } from '../../src/budgets/create-budget.ts'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import type { SyncBudget } from '../../src/budgets/budget.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { Random, SEED } from './random.ts'

const QUOTA = 100_000
const DEBT = 20_000
const CALLERS = 200
const policy = {
  name: 'llm',
  rules: [
    {
      name: 'tokens',
      by: ['team'],
      limit: { quota: QUOTA, window: 86_400_000, algorithm: 'fixed-window' as const },
      hold: '60s' as const,
      debt: DEBT,
    },
  ],
}

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

interface AnyBudget {
  reserve(...args: Parameters<SyncBudget['reserve']>): unknown
  settle(...args: Parameters<SyncBudget['settle']>): unknown
}

/** Callers whose estimates are wrong by up to a factor of ten either way; one in twenty crashes. Returns what was charged. */
async function call(budget: AnyBudget, rounds: number): Promise<number> {
  const random = new Random(SEED)
  let charged = 0
  const caller = async (): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      const actual = random.whole(1, 500)
      const estimate = Math.max(1, Math.round(actual * 10 ** (random.next() * 2 - 1)))
      const reservation = (await budget.reserve({ team: 'a' }, estimate)) as ReturnType<
        SyncBudget['reserve']
      >
      if (!reservation.allowed || random.chance(0.05)) continue
      const settled = (await budget.settle(reservation.id, actual)) as ReturnType<
        SyncBudget['settle']
      >
      charged += settled.charged
      if (random.chance(0.3)) {
        const again = (await budget.settle(reservation.id, actual)) as typeof settled
        if (again.status !== 'repeated') throw new Error(`a second settlement is ${again.status}`)
      }
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  return charged
}

describe('two hundred callers with wrong estimates and crashes', () => {
  // Ten calls of each want more than there is; one leaves a part of the limit.
  it.each([
    ['memory', 10, 0.6],
    ['memory', 1, 0.2],
    ['Redis', 10, 0.6],
    ['Redis', 1, 0.2],
  ] as const)(
    'charge no more than the limit and its debt, and lose nothing: %s, %d each',
    async (kind, rounds, least) => {
      const clock = fakeClock(1_800_000_000_000)
      const store =
        kind === 'memory'
          ? memoryStore({ clock })
          : redisStore(client, {
              clock,
              prefix: `many${rounds}:`,
              timeout: 30_000,
              onWarning: () => {},
            })
      const budget = createBudget({ policy, store, resilience: false }) as AnyBudget
      const charged = await call(budget, rounds)
      // What callers hold that crashed is not charged, and comes free only at the end of their holds.
      expect(charged).toBeGreaterThan(QUOTA * least)
      expect(charged).toBeLessThanOrEqual(QUOTA + DEBT)
      // After the last end, in the same window, everything that was not charged is there again.
      clock.advance(60_001)
      const one = (await budget.reserve({ team: 'a' }, 1)) as ReturnType<SyncBudget['reserve']>
      expect(one.allowed).toBe(charged < QUOTA)
      expect(one.decision.remaining).toBe(Math.max(0, QUOTA - charged - 1))
    },
    60_000,
  )
})

describe('two hundred callers while the server is killed', () => {
  it('charge no more than the limit and its debt, each settlement once, and lose nothing', async () => {
    const own = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] })
    onTestFinished(own.stop)
    const lost = new Redis(own.url, { retryStrategy: () => 20, enableOfflineQueue: false })
    onTestFinished(() => lost.disconnect())
    lost.on('error', () => {})
    await once(lost, 'ready')
    const rule = {
      ...policy.rules[0]!,
      limit: { quota: QUOTA, window: '365days' as const, algorithm: 'fixed-window' as const },
      hold: '3s' as const,
      // While the server is unreachable, nothing is reserved that it would not know of.
      onStoreFailure: 'closed' as const,
    }
    const store = redisStore(lost, { onWarning: () => {}, timeout: 2000 })
    const resilience = { onEvent: () => {} }
    const budget = createBudget({ policy: { name: 'llm', rules: [rule] }, store, resilience })
    onTestFinished(() => budget.close())
    const random = new Random(SEED)
    const charged = new Map<string, number>()
    const again = new Set<string>()
    const open: [string, number][] = []
    let reserved = 0
    let restarted: Promise<void> | undefined
    const settle = async (id: string, actual: number): Promise<string> => {
      const { status, charged: units } = await budget.settle(id, actual)
      if (status === 'pending') open.push([id, actual])
      else charged.set(id, Math.max(units, charged.get(id) ?? 0))
      return status
    }
    const caller = async (): Promise<void> => {
      for (let round = 0; round < 3; round++) {
        const actual = random.whole(1, 500)
        const estimate = Math.max(1, Math.round(actual * 10 ** (random.next() * 2 - 1)))
        const { allowed, id } = await budget.reserve({ team: 'a' }, estimate)
        if (++reserved === CALLERS) {
          own.kill('SIGKILL')
          restarted = own.restart()
        }
        if (!allowed || random.chance(0.05)) continue
        const status = await settle(id, actual)
        if (status === 'settled' && random.chance(0.3)) again.add(await settle(id, actual))
      }
    }
    await Promise.all(Array.from({ length: CALLERS }, caller))
    await restarted
    again.delete('pending')
    expect([...again]).toEqual(['repeated'])
    for (const [id, actual] of open)
      await until('the settlement', 20_000, async () => (await settle(id, actual)) !== 'pending')
    const sum = [...charged.values()].reduce((all, units) => all + units, 0)
    expect(sum).toBeGreaterThan(QUOTA / 10)
    expect(sum).toBeLessThanOrEqual(QUOTA + DEBT)
    // After the last end, everything that was not charged is there again.
    await until('the holds have ended', 20_000, async () => {
      const { id, decision } = await budget.reserve({ team: 'a' }, 1)
      if (id === '' || decision.degraded) return false
      const { rules } = await budget.cancel(id)
      return rules[0]!.remaining === Math.max(0, QUOTA - sum)
    })
  }, 120_000)
})

describe('a server that is lost between reserve and settle', () => {
  it('receives the settlement once it is back, and charges it once', async () => {
    const own = await startRedis()
    const lost = new Redis(own.url, { retryStrategy: () => 20, enableOfflineQueue: false })
    lost.on('error', () => {})
    await new Promise((resolve) => lost.once('ready', resolve))
    const timers = {
      start: (run: () => void) => setImmediate(run),
      stop: (timer: unknown) => clearImmediate(timer as NodeJS.Immediate),
      afterTurn: (run: () => void) => setImmediate(run),
    }
    const store = redisStore(lost, { onWarning: () => {}, timeout: 2000 })
    const budget = createBudget({ policy, store, timers, resilience: { onEvent: () => {} } })
    const { id } = await budget.reserve({ team: 'a' }, 1000)
    own.kill('SIGSTOP')
    const short = redisStore(lost, { onWarning: () => {}, timeout: 50 })
    const other = createBudget({ policy, store: short, timers, resilience: { onEvent: () => {} } })
    expect(await other.settle(id, 400)).toMatchObject({ status: 'pending' })
    own.kill('SIGCONT')
    const answer = await budget.settle(id, 400)
    expect(['settled', 'repeated']).toContain(answer.status)
    expect(answer.charged).toBe(400)
    await other.close()
    await budget.close()
    lost.disconnect()
    await own.stop()
  }, 30_000)
})

// Budgets through the service: wrong estimates, crashed callers and a killed Redis charge no more than the limit and its debt.
import { expect, it, onTestFinished } from 'vitest'
import { lengthOf } from '../../../test/length.ts'
import { startRedis } from '../../../test/servers/redis-server.ts'
import { until } from '../../../test/servers/until.ts'
import { running } from './running.ts'

const QUOTA = 25_000
const DEBT = 2000
const CALLERS = 200
const ROUNDS = lengthOf(2, 20)
const policies = [
  {
    name: 'llm',
    rules: [
      {
        name: 'tokens',
        by: ['team'],
        limit: { quota: QUOTA, window: '365days', algorithm: 'fixed-window' },
        hold: '3s',
        debt: DEBT,
        // While the store is unreachable, nothing is reserved that it would not know of.
        onStoreFailure: 'closed',
      },
    ],
  },
]

/** Numbers from 0 to 1, the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

interface Settled {
  readonly status: string
  readonly charged: number
}

/** Redis that keeps what it has answered, and can be killed. */
async function durableRedis() {
  const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] })
  onTestFinished(server.stop)
  return server
}

it.each(['memory', 'Redis, killed in between'])(
  'two hundred callers charge no more than the limit and its debt, and lose nothing: %s',
  async (kind) => {
    const redis = kind === 'memory' ? undefined : await durableRedis()
    const store = redis === undefined ? { kind: 'memory' } : { kind: 'redis', url: redis.url }
    const { post, get } = await running({ policies, store })
    await until('the service is ready', 5000, async () => (await get('/readyz')).status === 200)
    const random = randomFrom(42)
    const pending: Promise<void>[] = []
    let charged = 0
    let reserved = 0
    let restarted: Promise<void> | undefined
    /** What second settlements were answered. */
    const again = new Set<string>()
    const counted = new Set<string>()
    const count = (id: string, units: number): void => {
      if (!counted.has(id)) charged += units
      counted.add(id)
    }
    const settle = async (id: string, actual: number): Promise<string> => {
      const { body } = await post('/v1/settle', { id, actual })
      const { status, charged: units } = body as unknown as Settled
      if (status === 'pending') pending.push(settleLater(id, actual))
      else count(id, units)
      return status
    }
    // What the killed server had not answered is settled once, whether or not it had acted. Asked at once and again: the
    // service settles it by itself, and forgets ten seconds later what it was.
    const settleLater = async (id: string, actual: number): Promise<void> => {
      const { charged: units } = await until('the settlement', 5000, async () => {
        const { body, status } = await post('/v1/settle', { id, actual })
        if (status !== 200) throw new Error(JSON.stringify(body))
        const settled = body as unknown as Settled
        return settled.status !== 'pending' && settled
      })
      count(id, units)
    }
    const caller = async (): Promise<void> => {
      for (let round = 0; round < ROUNDS; round++) {
        const actual = 1 + Math.floor(random() * 200)
        const estimate = Math.max(1, Math.round(actual * 10 ** (random() * 2 - 1)))
        const { body } = await post('/v1/reserve', { attributes: { team: 'a' }, estimate })
        const { allowed, id } = body as unknown as { allowed: boolean; id: string }
        if (redis !== undefined && ++reserved === (CALLERS * ROUNDS) / 2) {
          redis.kill('SIGKILL')
          restarted = redis.restart()
        }
        if (!allowed || random() < 0.05) continue
        const status = await settle(id, actual)
        if (status === 'settled' && random() < 0.2) again.add(await settle(id, actual))
      }
    }
    await Promise.all(Array.from({ length: CALLERS }, caller))
    await restarted
    again.delete('pending')
    expect([...again]).toEqual(['repeated'])
    await Promise.all(pending)
    expect(charged).toBeGreaterThan(QUOTA / 4)
    expect(charged).toBeLessThanOrEqual(QUOTA + DEBT)
    // After the last end, everything that was not charged is there again.
    await until('the holds have ended', 10_000, async () => {
      // A look by a take: peeks alone do not show the service that a lost store is back.
      await post('/v1/check', { attributes: { team: 'a' }, cost: 0 })
      const { body } = await post('/v1/peek', { attributes: { team: 'a' } })
      return body.remaining === Math.max(0, QUOTA - charged)
    })
  },
  600_000,
)

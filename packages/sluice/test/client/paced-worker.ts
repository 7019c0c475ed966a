// One process of a fleet that shares an outbound budget: takes its turns and reports them to its parent.
import { Redis } from 'ioredis'
import { paced } from '../../src/client/paced.ts'
import type { LimitInput } from '../../src/limit/limit.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import type { AsyncStore } from '../../src/stores/store.ts'

export interface WorkerOrders {
  readonly url: string
  readonly limit: LimitInput
  /** The costs of the turns, in order. */
  readonly costs: readonly number[]
}

export interface WorkerReport {
  /** The turns in the order in which they came, with the wall-clock time. */
  readonly turns: readonly { readonly index: number; readonly at: number }[]
  /** What Redis allowed and got refunded, by its clock. */
  readonly charges: readonly { readonly units: number; readonly at: number }[]
}

const { url, limit, costs } = JSON.parse(process.argv[2]!) as WorkerOrders
const client = new Redis(url)
const store = redisStore(client, { timeout: 5000, onWarning: () => {} })
const charges: { units: number; at: number }[] = []
const observed: AsyncStore = {
  ...store,
  async take(checks) {
    const verdicts = await store.take(checks)
    const { allowed, at } = verdicts[0]!
    if (allowed) charges.push({ units: checks[0]!.cost, at })
    return verdicts
  },
  async refund(checks) {
    for (const { cost, takenAt } of checks) charges.push({ units: -cost, at: takenAt ?? 0 })
    await store.refund(checks)
  },
}
const pacer = paced(limit, { store: observed, key: 'outbound' })
process.send!('ready')
process.once('message', () => void work())

async function work(): Promise<void> {
  const turns: { index: number; at: number }[] = []
  await Promise.all(
    costs.map(async (cost, index) => {
      await pacer.take(cost)
      turns.push({ index, at: Date.now() })
    }),
  )
  pacer.close()
  const report: WorkerReport = { turns, charges }
  process.send!(report, () => {
    client.disconnect()
    process.disconnect()
  })
}

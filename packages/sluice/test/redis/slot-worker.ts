// A process that enters and leaves a slot again and again: `node slot-worker.js <orders>`. Its work counts who is inside.
import { Redis } from 'ioredis'
import { createBudget } from '../../src/budgets/create-budget.ts'
import type { Budget } from '../../src/budgets/budget.ts'
import { redisStore } from '../../src/redis/redis-store.ts'

/** What a process shall do. */
export interface SlotOrders {
  readonly port: number
  readonly name: string
}

/** What a process reports: that it came in, with how many were inside then, or that it stays inside. */
export type SlotReport = { readonly inside: number; readonly stays: boolean }

export const SLOTS = 4
/** Milliseconds for which a slot is held without a renewal. */
export const HOLD = 2000
/** The processes that are inside, as their work itself counts them. */
export const INSIDE = 'inside'
/** Gets an element whenever a slot is left, so that a process waits for one instead of trying all the time. */
const LEFT = 'left'
/** Seconds after which a process tries again: the slot of a killed one is left without a word. */
const NEXT_TRY = 0.1

/** The budget that all processes share. */
export function slotBudget(client: Redis): Budget {
  return createBudget({
    policy: {
      name: 'jobs',
      rules: [{ name: 'at-once', by: ['queue'], concurrency: SLOTS, hold: HOLD }],
    },
    store: redisStore(client, { timeout: 60_000, onWarning: () => {} }),
    resilience: false,
  })
}

async function main({ port, name }: SlotOrders): Promise<void> {
  const client = new Redis({ host: '127.0.0.1', port })
  const waiting = client.duplicate()
  const budget = slotBudget(client)
  let order = 'work'
  process.on('message', (message) => (order = message as string))
  const report = (message: SlotReport): boolean => process.send!(message)
  while (order !== 'stop') {
    const slot = await budget.enter({ queue: 'mail' })
    if (!slot.allowed) {
      await waiting.blpop(LEFT, NEXT_TRY)
      continue
    }
    const [, counted] = (await client.multi().sadd(INSIDE, name).scard(INSIDE).exec())!
    const inside = counted![1] as number
    if (order === 'stay') {
      report({ inside, stays: true })
      return
    }
    report({ inside, stays: false })
    // The work: long enough for others to come in.
    for (let i = 0; i < 5; i++) await client.ping()
    await client.srem(INSIDE, name)
    slot.leave()
    // What is sent after this answer comes after the slot was left.
    await client.ping()
    // The one that has waited longest comes in next: to enter again at once would win against all that wait.
    await client.lpush(LEFT, name)
    await waiting.blpop(LEFT, NEXT_TRY)
  }
  process.disconnect()
  waiting.disconnect()
  client.disconnect()
}

const [, , orders] = process.argv
if (orders?.startsWith('{') === true) await main(JSON.parse(orders) as SlotOrders)

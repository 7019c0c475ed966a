// What the server has charged when all is over, read through the store by a client that was not there.
import { setTimeout as pause } from 'node:timers/promises'
import { onceKey, type Orders, type Target } from './orders.ts'
import { connectTo } from './pod-clients.ts'
import { limiterBy } from './pod-limiter.ts'

/** What is charged to a one-shot key. */
export interface Charge {
  readonly units: number
  /** When the first unit was charged, in ms since the epoch by the server's clock. Means nothing without units. */
  readonly at: number
}

const TOGETHER = 200
/** Milliseconds for which an answer is waited for. */
const TIMEOUT = 20_000

/** What is charged to each of a pod's one-shot keys. */
export async function chargesOf(orders: Orders, target: Target, count: number): Promise<Charge[]> {
  const { client, close } = await connectTo('ioredis', target, TIMEOUT)
  const { quota, window, name } = orders
  const limiter = limiterBy(orders, client, TIMEOUT, false)
  const look = async (number: number): Promise<Charge> => {
    for (let attempt = 1; ; attempt++) {
      try {
        const { at, remaining, resetAfter } = await limiter.peek(onceKey(name, number))
        const units = quota - remaining
        return { units, at: at + resetAfter - (units * window) / quota }
      } catch (error) {
        if (attempt === 100) throw error
        await pause(50)
      }
    }
  }
  try {
    const charges: Charge[] = []
    for (let first = 0; first < count; first += TOGETHER) {
      const numbers = Array.from({ length: Math.min(TOGETHER, count - first) }, (_, i) => first + i)
      charges.push(...(await Promise.all(numbers.map(look))))
    }
    return charges
  } finally {
    await limiter.close()
    close()
  }
}

// A process that takes from a store as fast as it is answered, for tests that need several: `node taker.js <orders>`.
import type { Check } from '../../src/stores/store.ts'

/** What a process shall do. */
export interface Orders {
  readonly port: number
  readonly prefix: string
  /** Milliseconds by which the clocks of this process are wrong. */
  readonly skew: number
  readonly inFlight: number
  readonly errands: readonly Errand[]
}

/** A number of takes, of these requests by turns. */
export interface Errand {
  readonly takes: number
  readonly requests: readonly (readonly Check[])[]
}

/** What came of an errand: for each of its requests, how often it was allowed. */
export interface Outcome {
  readonly allowed: readonly number[]
  readonly errors: readonly string[]
  /** The latest instant of a decision, by the store's clock. */
  readonly at: number
}

async function main({ port, prefix, skew, inFlight, errands }: Orders): Promise<Outcome[]> {
  // Before the library is loaded, which reads the time at which the process began.
  const origin = performance.timeOrigin
  const { now } = Date
  Object.defineProperty(performance, 'timeOrigin', { value: origin + skew })
  Date.now = () => now() + skew
  const { Redis } = await import('ioredis')
  const { redisStore } = await import('../../src/redis/redis-store.ts')
  const client = new Redis({ host: '127.0.0.1', port })
  const store = redisStore(client, {
    prefix,
    timeout: 120_000,
    holdRefusals: 0,
    onWarning: () => {},
  })
  const outcomes: Outcome[] = []
  for (const { takes, requests } of errands) {
    const allowed = requests.map(() => 0)
    const errors: string[] = []
    let at = 0
    let next = 0
    const taking = async (): Promise<void> => {
      while (next < takes) {
        const which = next++ % requests.length
        try {
          const verdicts = await store.take(requests[which]!)
          if (verdicts.every((verdict) => verdict.allowed)) allowed[which]! += 1
          at = Math.max(at, verdicts[0]!.at)
        } catch (error) {
          errors.push(String(error))
        }
      }
    }
    await Promise.all(Array.from({ length: inFlight }, taking))
    outcomes.push({ allowed, errors: errors.slice(0, 5), at })
  }
  client.disconnect()
  return outcomes
}

const [, , orders] = process.argv
if (orders !== undefined) {
  const outcomes = await main(JSON.parse(orders) as Orders)
  process.stdout.write(JSON.stringify(outcomes))
}

// Clocks that are set while everything runs: the application's, which must not matter, and the server's.
import { startRedis } from '../../servers/redis-server.ts'
import type { Held, Times } from '../figures.ts'
import { ALLOWED, DEGRADED, type PodRecord } from '../orders.ts'
import { type Occasion, type Place, type Scenario, TIMEOUT } from '../scenario.ts'
import { settableClock } from '../set-clock.ts'

const HOUR = 3600
/** The limit for the server's clock is one that gives units back while we watch: 40 in 4 s. */
const QUOTA = 40
const WINDOW = 4000

/** One server; either it or the pods live by a clock that can be set. */
async function place(whose: 'server' | 'pods', seconds: number): Promise<Place> {
  const clock = await settableClock()
  const server = await startRedis(whose === 'server' ? { binary: clock.redisServer } : {})
  const { host, port } = server
  const serverSeconds = async (): Promise<number> => Number((await server.cli<string[]>('TIME'))[0])

  /** How wrong the clock is, in seconds, as the process itself sees it. */
  const offBy = async ({ pods }: Occasion): Promise<number> => {
    const there = whose === 'server' ? await serverSeconds() : (await pods[0]!.time()) / 1000
    return there - Date.now() / 1000
  }
  return {
    target: { kind: 'one', address: { host, port } },
    truth: async () => ({ kind: 'one', address: { host, port } }),
    ...(whose === 'pods' ? { env: clock.env } : { measure }),
    async fault(occasion) {
      occasion.begin()
      clock.set(seconds)
      const off = await offBy(occasion)
      if (Math.abs(off - seconds) > 60) throw new Error(`the clock is off by ${off} s`)
      await occasion.last()
      occasion.back()
    },
    async stop() {
      await server.stop()
      clock.remove()
    },
  }
}

/** Units beyond what time gives, and the longest time without one, since the clock was set. */
function measure({ at, answer, key }: PodRecord, { begin }: Times): Held[] {
  const admitted = [...at].filter(
    (_, i) => key[i]! < 0 && (answer[i]! & (ALLOWED | DEGRADED)) === ALLOWED,
  )
  const since = [begin, ...admitted.filter((instant) => instant >= begin), at.at(-1)!]
  const gaps = since.slice(1).map((instant, i) => instant - since[i]!)
  const due = (QUOTA * (at.at(-1)! - begin)) / WINDOW
  return [
    // One more for the unit that was nearly due when we began to count.
    { what: 'units too many', value: Math.max(0, since.length - 2 - due), most: QUOTA + 1 },
    { what: 'ms without a unit', value: Math.max(...gaps), most: WINDOW + 1000, isTimed: true },
  ]
}

const application = (name: string, seconds: number): Scenario => ({
  name,
  length: { test: 2000, full: 5000 },
  open: () => place('pods', seconds),
  bounds: { fallback: 0, median: TIMEOUT },
})

const server = (name: string, seconds: number): Scenario => ({
  name,
  length: { test: 6000, full: 8000 },
  load: { quota: QUOTA, window: WINDOW },
  open: () => place('server', seconds),
  // How much more is measured above, since time gives units back.
  bounds: { fallback: 0, median: TIMEOUT, again: Infinity },
})

export const clocks: readonly Scenario[] = [
  application('application clock +1 h', HOUR),
  application('application clock -1 h', -HOUR),
  server('server clock +1 h', HOUR),
  server('server clock -1 h', -HOUR),
]

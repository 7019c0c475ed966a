// The adaptive fetch at real servers without limit headers: it settles just below the limit and follows its changes.
import type { RequestListener, ServerResponse } from 'node:http'
import express, { type RequestHandler } from 'express'
import { rateLimit as peersRateLimit } from 'express-rate-limit'
import { afterEach, expect, it } from 'vitest'
import { isLong } from '../../../../test/length.ts'
import { adaptive } from '../../src/client/adaptive.ts'
import { rateLimit } from '../../src/http/express.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Clock } from '../../src/time/clock.ts'
import { serve, type LimitedServer } from './limited-servers.ts'
import { oneClock } from './one-clock.ts'

const MINUTE = 60_000

const started: LimitedServer[] = []
afterEach(async () => {
  for (const server of started.splice(0)) await server.stop()
})

type Limiting = (perSecond: () => number, clock: Clock) => RequestHandler

const limitings: readonly (readonly [string, Limiting])[] = [
  [
    'our middleware',
    (perSecond, clock) => {
      const made = new Map<number, RequestHandler>()
      return (request, response, next) => {
        const quota = perSecond()
        const limit = { quota, window: '1s', burst: 10 } as const
        const make = (): RequestHandler =>
          rateLimit(createLimiter({ limit, store: memoryStore({ clock }) })) as RequestHandler
        if (!made.has(quota)) made.set(quota, make())
        return made.get(quota)!(request, response, next)
      }
    },
  ],
  [
    'express-rate-limit',
    (perSecond) => {
      const limit = (): number => perSecond() * 5
      return peersRateLimit({ windowMs: 5000, limit, standardHeaders: false, legacyHeaders: false })
    },
  ],
]

/** Removes all headers about limits. */
function hide(response: ServerResponse): void {
  const set = response.setHeader.bind(response)
  response.setHeader = (name, value) =>
    /ratelimit|retry/i.test(name) ? response : set(name, value)
}

/** Ten clients that send as fast as they may over real connections, on one clock with the server. */
async function crowd(limiting: Limiting) {
  const { timers, fetch, advance } = oneClock()
  let perSecond = 6
  const app = express().use((_, response, next) => {
    hide(response)
    next()
  })
  app.use(limiting(() => perSecond, timers.clock))
  app.get('/', (_, response) => void response.send('ok'))
  const server = await serve(app as RequestListener)
  started.push(server)
  const send = adaptive(fetch, { timers })
  let isOver = false
  const client = async (): Promise<void> => {
    while (!isOver) await (await send(server.url)).text()
  }
  const clients = Array.from({ length: 10 }, client)
  const run = (minutes: number): Promise<void> => advance(minutes * MINUTE)
  const count = (status: number): number => server.statuses.get(status) ?? 0
  return {
    setLimit: (next: number) => void (perSecond = next),
    /** The share of the limit that is used, and the share that is refused, after some minutes of learning. */
    async settled(learning: number, watched: number) {
      await run(learning)
      const [before, failed] = [count(200), count(429)]
      await run(watched)
      const [passed, refused] = [count(200) - before, count(429) - failed]
      return { share: passed / (perSecond * watched * 60), refused: refused / (passed + refused) }
    },
    async end() {
      isOver = true
      await run(1)
      await Promise.all(clients)
    },
  }
}

/** Limits per second, each with the minutes that the client has to learn it. */
type Phases = readonly (readonly [perSecond: number, learning: number])[]
const RAISED: Phases = [
  [6, 3],
  [9, 5],
]
const LOWERED: Phases = [
  [6, 3],
  [5, 4],
]
/** One direction at each server by default, both at each in `npm run test:long`. */
const cases = isLong
  ? limitings.map(([name, limiting]) => [name, [...RAISED, ...LOWERED.slice(1)], limiting] as const)
  : limitings.map(([name, limiting], i) => [name, i === 0 ? RAISED : LOWERED, limiting] as const)

it.each(cases)(
  'adaptive at %s settles within five percent below the limit, also after it changes: %j',
  { timeout: 240_000 },
  async (name, phases, limiting) => {
    const one = await crowd(limiting)
    for (const [perSecond, learning] of phases) {
      one.setLimit(perSecond)
      const { share, refused } = await one.settled(learning, 3)
      console.log(
        `${name}, ${perSecond}/s, no headers: ${(100 * share).toFixed(1)} % of it used, ${(100 * refused).toFixed(2)} % refused`,
      )
      expect(share).toBeGreaterThan(0.95)
      // A bucket that is full at the start admits ten more: 1 % of three minutes.
      expect(share).toBeLessThanOrEqual(1.01)
      expect(refused).toBeLessThan(0.01)
    }
    await one.end()
  },
)

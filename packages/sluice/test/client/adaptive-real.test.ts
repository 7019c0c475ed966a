// The adaptive fetch at real servers: it follows changes of the limit in the headers, and finds a limit without headers.
import type { RequestListener } from 'node:http'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import { afterEach, expect, it } from 'vitest'
import { adaptive } from '../../src/client/adaptive.ts'
import { polite } from '../../src/client/polite.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { serve, type LimitedServer } from './limited-servers.ts'
import { oneClock } from './one-clock.ts'

const started: LimitedServer[] = []
afterEach(async () => {
  for (const server of started.splice(0)) await server.stop()
})

it.each(['draft-7', 'draft-8'] as const)(
  'adaptive follows a limit that rises and falls in %s headers',
  async (standardHeaders) => {
    let limit = 50
    const limited = rateLimit({
      windowMs: 1000,
      limit: () => limit,
      standardHeaders,
      legacyHeaders: false,
    })
    const app = express().use(limited)
    app.get('/', (_, response) => void response.send('ok'))
    const server = await serve(app as RequestListener)
    started.push(server)
    const { fetch, timers, settled } = oneClock()
    const send = adaptive(fetch, { timers })
    const rateAfter = async (stated: number): Promise<number> => {
      limit = stated
      for (let i = 0; i < 3; i++) await (await settled(send(server.url))).text()
      return [...send.rates().values()][0] ?? 0
    }
    expect(await rateAfter(50)).toBeCloseTo(48.5)
    expect(await rateAfter(200)).toBeCloseTo(194)
    expect(await rateAfter(20)).toBeCloseTo(19.4)
  },
)

it('adaptive with polite gets a 200 for every request without headers, and few are refused', async () => {
  const { fetch, timers, settled } = oneClock()
  const limit = { quota: 40, window: '1s', burst: 10 } as const
  const limiter = createLimiter({ limit, store: memoryStore({ clock: timers.clock }) })
  const server = await serve((_, response) => {
    response.writeHead(limiter.check('all').allowed ? 200 : 429).end()
  })
  started.push(server)
  const send = polite(adaptive(fetch, { start: '20/s', timers }), {
    base: 50,
    attempts: 20,
    timers,
  })
  const answers = await settled(
    Promise.all(Array.from({ length: 300 }, async () => (await send(server.url)).status)),
  )
  const refused = server.statuses.get(429) ?? 0
  limiter.close()
  console.log(
    `no headers, 300 requests at 40/s: ${refused} of ${server.arrivals.length} attempts refused while learning`,
  )
  expect(answers.every((status) => status === 200)).toBe(true)
  expect(refused).toBeLessThan(30)
})

// Fifty clients against real limited servers on one clock: every request gets a 200, and hardly any is refused on the way.
import { afterEach, describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import { adaptive } from '../../src/client/adaptive.ts'
import { paced } from '../../src/client/paced.ts'
import { polite, type Fetch } from '../../src/client/polite.ts'
import { fakeTimers } from '../../src/testing/fake-timers.ts'
import { LIMIT, limitedServers, serve, type LimitedServer } from './limited-servers.ts'
import { oneClock, type OneClock } from './one-clock.ts'
import { seeded } from './simulated-server.ts'

const CLIENTS = 50
const REQUESTS = lengthOf(600, 2000)
const started: LimitedServer[] = []
afterEach(async () => {
  for (const server of started.splice(0)) await server.stop()
})

/** Sends all requests from fifty clients at once; returns how many responses were not 200. */
async function sendAll(send: Fetch, url: string): Promise<number> {
  let left = REQUESTS
  let failures = 0
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const response = await send(url)
      await response.text()
      if (response.status !== 200) failures += 1
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return failures
}

const kinds: readonly [string, (clock: OneClock) => Fetch][] = [
  [
    'paced',
    ({ fetch, timers }) =>
      paced({ quota: 280, window: '1s', burst: 15 }, { timers }).wrap(fetch) as Fetch,
  ],
  ['adaptive', ({ fetch, timers }) => adaptive(fetch, { timers })],
]

describe.each(limitedServers)('%s', (name, start) => {
  it.each(kinds)(
    'answers every request of %s clients and refuses at most one percent of their attempts',
    async (kind, make) => {
      const clock = oneClock()
      const { timers } = clock
      const server = await start(timers.clock)
      started.push(server)
      const began = timers.clock()
      const failures = await clock.settled(sendAll(polite(make(clock), { timers }), server.url))
      const refused = server.statuses.get(429) ?? 0
      const perSecond = (1000 * REQUESTS) / (timers.clock() - began)
      const rate = `${perSecond.toFixed(0)}/s, ${((100 * perSecond) / LIMIT).toFixed(0)} % of the limit`
      console.log(
        `${name}, ${kind}: ${rate}, ${failures} failures, ${refused} of ${server.arrivals.length} attempts refused`,
      )
      expect([failures, server.statuses.get(200)]).toEqual([0, REQUESTS])
      expect(refused).toBeLessThanOrEqual(REQUESTS / 100)
    },
  )
})

describe('two hundred clients refused at once', () => {
  const politeness = { base: 2000, retryBudget: false, key: () => '' } as const
  const mostWithin = (instants: readonly number[], span: number): number =>
    Math.max(
      ...instants.map((from) => instants.filter((at) => at >= from && at < from + span).length),
    )

  /** The most retries in any 100 ms, at a real server. */
  async function realPeak(jitter: 'full' | 'none'): Promise<number> {
    const { fetch, timers, settled } = oneClock()
    const refusedOnce = new Set<string>()
    const retries: number[] = []
    const server = await serve((request, response) => {
      const isFirst = !refusedOnce.has(request.url ?? '')
      refusedOnce.add(request.url ?? '')
      if (!isFirst) retries.push(timers.clock())
      response.writeHead(isFirst ? 429 : 200, isFirst ? { 'retry-after': '1' } : {}).end()
    })
    started.push(server)
    const send = polite(fetch, { ...politeness, jitter, timers, random: seeded(5) })
    await settled(Promise.all(Array.from({ length: 200 }, (_, i) => send(`${server.url}/${i}`))))
    expect(server.arrivals).toHaveLength(400)
    return mostWithin(retries, 100)
  }

  /** The same in simulated time without connections. */
  async function simulatedPeak(jitter: 'full' | 'none'): Promise<number> {
    const timers = fakeTimers()
    const retries: number[] = []
    const refusedOnce = new Set<string>()
    const server: Fetch = async (input) => {
      const isFirst = !refusedOnce.has(input as string)
      refusedOnce.add(input as string)
      if (!isFirst) retries.push(timers.clock())
      return new Response(null, { status: isFirst ? 429 : 200, headers: { 'retry-after': '1' } })
    }
    const send = polite(server, { ...politeness, jitter, timers, random: seeded(5) })
    const all = Array.from({ length: 200 }, (_, i) => send(`http://api.test/${i}`))
    await timers.advance(10_000)
    await Promise.all(all)
    expect(Math.min(...retries)).toBeGreaterThanOrEqual(1000)
    return mostWithin(retries, 100)
  }

  it('retry together without jitter, and apart with full jitter', async () => {
    const [none, full] = [await simulatedPeak('none'), await simulatedPeak('full')]
    console.log(
      `simulated, most retries within 100 ms: ${none} without jitter, ${full} with full jitter over 2 s`,
    )
    expect(none).toBe(200)
    expect(full).toBeLessThanOrEqual(25)
  })

  it.each([
    ['together without jitter', 'none', 200, 200],
    ['apart with full jitter', 'full', 1, 25],
  ] as const)('retry %s at a real server', async (_, jitter, least, most) => {
    const peak = await realPeak(jitter)
    expect(peak).toBeGreaterThanOrEqual(least)
    expect(peak).toBeLessThanOrEqual(most)
  })
})

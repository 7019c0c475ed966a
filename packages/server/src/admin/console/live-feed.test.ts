import type { ServerResponse } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { Sampler } from './history.ts'
import { LiveFeed } from './live-feed.ts'

/** A viewer that keeps what it is sent. */
function viewer() {
  const sent: string[] = []
  const keep = (bytes?: Buffer): boolean => sent.push(String(bytes ?? '')) > 0
  const response = {
    writeHead: () => {},
    write: keep,
    end: keep,
    once: () => {},
    writableLength: 0,
  }
  return { sent, response: response as unknown as ServerResponse }
}

function feed(readMore: (now: number) => Promise<object> = () => Promise.resolve({})) {
  const made = new LiveFeed(new Sampler(() => ''), { look: () => {}, readMore })
  onTestFinished(() => made.close())
  return made
}

/** Ticks once the one that the feed began with is over. */
async function ticked(live: LiveFeed, now: number): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  await live.tick(now)
}

it('ends the stream of a viewer that may no longer see it, and says so', async () => {
  const live = feed()
  const [over, other] = [viewer(), viewer()]
  expect(live.add(over.response, () => false)).toBe(true)
  expect(live.add(other.response, () => true)).toBe(true)
  await ticked(live, 5000)
  expect(over.sent.at(-1)).toMatch(/^event: ended\n/)
  expect(other.sent.at(-1)).toMatch(/^event: tick\n/)
})

it('looks at the keys now and then while nobody views them', async () => {
  let looks = 0
  const live = feed(() => {
    looks++
    return Promise.resolve({})
  })
  for (let second = 1; second <= 20; second++) await ticked(live, second * 1000)
  expect(looks).toBe(2)
})

it('leaves a second out whose metrics cannot be read, and goes on', async () => {
  let isAnswered = true
  const read = () => (isAnswered ? Promise.resolve('') : Promise.reject(new Error('no answer')))
  const live = new LiveFeed(new Sampler(read), {
    look: () => {},
    readMore: () => Promise.resolve({}),
  })
  onTestFinished(() => live.close())
  const { sent, response } = viewer()
  live.add(response, () => true)
  const events = () => sent.filter((one) => one.startsWith('event: tick')).length
  await ticked(live, 1000)
  isAnswered = false
  await expect(live.tick(2000)).resolves.toBeUndefined()
  expect(events()).toBe(1)
  isAnswered = true
  await live.tick(3000)
  expect(events()).toBe(2)
})

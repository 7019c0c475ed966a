// Values that we did not write: only their own key is affected, nobody sees an error, and no key stays shut.
import { describe, expect, it } from 'vitest'
import { ALGORITHMS } from '../../src/limit/limit.ts'
import type { Verdict } from '../../src/limit/verdict.ts'
import { redisKeys } from '../../src/redis/redis-key.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { left, on, patientStore, takeOne } from './asking.ts'
import { oneServer } from './one-server.ts'
import { Random, SEED } from './random.ts'

const START = 1_800_000_000_000
const WINDOW = 60_000
const redis = oneServer()

const doubles = (...numbers: number[]): Buffer => {
  const bytes = Buffer.alloc(8 * numbers.length)
  for (const [i, n] of numbers.entries()) bytes.writeDoubleLE(n, 8 * i)
  return bytes
}

const ODD = [
  Number.NaN,
  Infinity,
  -Infinity,
  -1,
  -0,
  0.5,
  1e300,
  2 ** 53,
  2 ** 52,
  START,
  START + 1e9,
  START + WINDOW,
]

/** Values of every kind: no numbers at all, numbers that nobody writes, and numbers that look like ours. */
function* damaged(random: Random): Iterable<Buffer> {
  yield Buffer.alloc(0)
  for (const length of [1, 7, 8, 15, 16, 17, 23, 24, 25, 40, 56, 4095, 4096, 4104, 5000]) {
    yield Buffer.alloc(length)
    yield Buffer.from(Array.from({ length }, () => random.whole(0, 255)))
  }
  for (const n of ODD) {
    yield doubles(n, 3)
    yield doubles(START, n)
    yield doubles(START, 1, n)
    yield doubles(n, n, n)
    yield doubles(START, 0, 0, n, 3)
    yield doubles(START, 0, 0, START, n)
    yield doubles(START, n, 0, START, 3)
    yield doubles(START, 0, n, START, 1, START, 2)
  }
  // Logs with a sound header and sound ends, and anything in between.
  for (const entries of [3, 10, 300]) {
    for (let i = 0; i < 12; i++) {
      const middle = Array.from({ length: 2 * (entries - 1) }, () => random.pick(ODD))
      yield doubles(START, 0, 0, ...middle, START, entries)
    }
  }
}

describe.each(ALGORITHMS)('%s', (algorithm) => {
  it('answers all the same, for this key and for its neighbours', async () => {
    const random = new Random(SEED)
    const clock = fakeClock(START)
    const store = patientStore(redis.client, { clock, prefix: `${algorithm}:` })
    const nameOf = redisKeys(`${algorithm}:`)
    const check = on('bad', { quota: 5, window: WINDOW, algorithm })
    const good = on('good', { quota: 2, window: WINDOW, algorithm })
    const key = nameOf(check.space, check.key)
    let number = 0
    for (const value of damaged(random)) {
      clock.set(START)
      await store.reset([good])
      await redis.client.set(key, value, 'PX', 10_000_000)
      const what = `value ${number++}, ${value.length} bytes: ${value.toString('hex').slice(0, 80)}`
      const peeked = store.peek([check])
      const taken = Array.from({ length: 7 }, () => takeOne(store, check))
      const neighbour = takeOne(store, good)
      for (const verdict of [...(await peeked), ...(await Promise.all(taken))]) sane(verdict, what)
      expect([what, (await neighbour).remaining]).toEqual([what, 1])
      // At worst the value stands still for a window, as if the clock had been set back by one, and counts for two.
      clock.advance(3 * WINDOW)
      expect([what, (await takeOne(store, check)).allowed]).toEqual([what, true])
      await store.refund([{ ...check, cost: 2 }])
      clock.advance(2 * WINDOW)
      expect([what, ...(await left(store, check))]).toEqual([what, 5])
      await takeOne(store, check)
    }
    expect(number).toBeGreaterThan(100)
  }, 120_000)
})

function sane(verdict: Verdict, what: string): void {
  const { remaining, retryAfter, resetAfter, availableAfter, delay } = verdict
  const waits = [retryAfter ?? 0, availableAfter, delay]
  const isSane =
    Number.isInteger(remaining) &&
    remaining >= 0 &&
    remaining <= 5 &&
    waits.every((wait) => wait >= 0 && wait <= 3 * WINDOW) &&
    // What is above the brim of a bucket has to drain: no level is above 2^52, and five go in each millisecond.
    resetAfter >= 0 &&
    resetAfter <= Math.max(3 * WINDOW, 2 ** 52 / 5 + 2 * WINDOW)
  expect([what, isSane ? 'sane' : JSON.stringify(verdict)]).toEqual([what, 'sane'])
}

describe('a level that no requests can have made', () => {
  const check = on('forged', { quota: 5, window: WINDOW, algorithm: 'token-bucket' })
  const forge = (level: number): Promise<unknown> =>
    redis.client.set(
      redisKeys('forged:')(check.space, check.key),
      doubles(START, level),
      'PX',
      9_000_000,
    )

  it('above 2^52 is no state of ours', async () => {
    const store = patientStore(redis.client, { clock: fakeClock(START), prefix: 'forged:' })
    await forge(2 ** 52 + 1)
    expect(await left(store, check)).toEqual([5])
  })

  it('up to 2^52 shuts its key for as long as a full bucket, then lets it go on at its pace', async () => {
    const clock = fakeClock(START)
    const store = patientStore(redis.client, { clock, prefix: 'forged:' })
    await forge(2 ** 52)
    // One unit comes back in 12 seconds, of which there are five: never more than one until the level is gone.
    for (let unit = 0; unit < 10; unit++) {
      const refused = await takeOne(store, check)
      expect(refused).toMatchObject({ allowed: false, remaining: 0, retryAfter: 12_000 })
      clock.advance(12_000)
      expect(await takeOne(store, check)).toMatchObject({ allowed: true, remaining: 0 })
    }
    // Idle for a window, the whole burst is there at once, as with any bucket.
    clock.advance(WINDOW)
    expect(await takeOne(store, { ...check, cost: 5 })).toMatchObject({ allowed: true })
    await store.reset([check])
    expect(await left(store, check)).toEqual([5])
  })
})

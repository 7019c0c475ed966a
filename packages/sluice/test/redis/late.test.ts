// A server that acts in time and answers too late: its charges go back, and an event reports it.
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { redisStore, type IoredisLike } from '../../src/redis/index.ts'
import type { ResilienceEvent } from '../../src/resilience/events.ts'
import type { StoreEvent } from '../../src/stores/store.ts'
import { on } from './asking.ts'
import { holdAnswers } from './held-answers.ts'
import { oneServer } from './one-server.ts'

const redis = oneServer()

/** Milliseconds of patience: enough for a busy machine, and what each late answer costs the test. */
const TIMEOUT = 1000

describe('an answer that comes too late', () => {
  it('gives back what it charged, and nothing else', async () => {
    const answers = holdAnswers(redis.client)
    const events: StoreEvent[] = []
    const store = redisStore(answers.client, { timeout: TIMEOUT })
    store.watch!((event) => void events.push(event))
    const check = on('late', '10/1h')
    const [first] = await store.take([check])
    expect(first!.remaining).toBe(9)
    answers.hold()
    await expect(store.take([check])).rejects.toMatchObject({ code: 'store-timeout' })
    answers.release()
    await until('the late answer', 5000, async () => events.length > 0)
    expect(events).toEqual([{ type: 'late-answer', refunded: true }])
    await until(
      'the unit is back',
      5000,
      async () => (await store.peek([check]))[0]!.remaining === 9,
    )
    answers.hold()
    await expect(store.take([{ ...check, cost: 10 }])).rejects.toMatchObject({
      code: 'store-timeout',
    })
    answers.release()
    await until('the late refusal', 5000, async () => events.length > 1)
    expect(events[1]).toEqual({ type: 'late-answer', refunded: false })
    expect((await store.peek([check]))[0]!.remaining).toBe(9)
  })

  it('is reported by the limiter, which has answered by itself', async () => {
    const answers = holdAnswers(redis.client)
    const events: ResilienceEvent[] = []
    const limiter = createLimiter({
      limit: { quota: 10, window: '1h', algorithm: 'fixed-window' },
      store: redisStore(answers.client, { timeout: TIMEOUT }),
      resilience: { onEvent: (event) => void events.push(event) },
    })
    expect((await limiter.check('told')).degraded).toBe(false)
    answers.hold()
    expect(await limiter.check('told')).toMatchObject({ degraded: true, cause: 'store-timeout' })
    answers.release()
    await until('the late answer', 5000, async () => events.length > 1)
    expect(events).toMatchObject([
      { type: 'fallback', operation: 'take', cause: 'store-timeout' },
      { type: 'late-answer', refunded: true },
    ])
    await until('the unit is back', 5000, async () => (await limiter.peek('told')).remaining === 9)
    await limiter.close()
  })
})

describe('a request across the slots of a cluster', () => {
  it('has one deadline for all of its calls, and leaves nothing charged', async () => {
    let delay = 0
    const asked = new Set<string>()
    const late = async (answer: Promise<unknown>): Promise<unknown> => {
      const value = await answer
      await new Promise((resolve) => setTimeout(resolve, delay))
      return value
    }
    const client: IoredisLike = {
      evalsha: (hash, count, ...rest) => {
        asked.add(String(rest[0]))
        return late(redis.client.evalsha(hash, count, ...rest))
      },
      eval: (...args) => late(redis.client.eval(...args)),
    }
    // One server will do: what is asked together is decided here.
    const store = redisStore(client, { timeout: TIMEOUT, cluster: true })
    const checks = ['slot a', 'slot b', 'slot c'].map((key) => on(key, '10/1h'))
    await store.take(checks)
    // Of the three calls, one after the other, the second is already too late: with a deadline of its own it would not be.
    delay = 0.75 * TIMEOUT
    asked.clear()
    await expect(store.take(checks)).rejects.toMatchObject({ code: 'store-timeout' })
    expect([1, 2]).toContain(asked.size)
    delay = 0
    await until('the units are back', 5000, async () => {
      const verdicts = await store.peek(checks)
      return verdicts.every(({ remaining }) => remaining === 9)
    })
  })
})

describe('a client that connects again', () => {
  it('is reported to limiters until they are closed, by one listener for all of them', async () => {
    const own = new Redis(redis.server.url, { lazyConnect: true })
    await own.connect()
    const heard: string[] = []
    const stops = ['a', 'b'].map((name) =>
      redisStore(own).watch!(({ type }) => void heard.push(`${name} ${type}`)),
    )
    expect(own.listenerCount('ready')).toBe(1)
    own.disconnect(true)
    await until('both have heard', 5000, async () => heard.length === 2)
    expect(heard).toEqual(['a reachable', 'b reachable'])
    for (const stop of stops) stop()
    own.disconnect(true)
    await until('connected again', 5000, async () => own.status === 'ready')
    expect(heard).toHaveLength(2)
    own.disconnect()
  })
})

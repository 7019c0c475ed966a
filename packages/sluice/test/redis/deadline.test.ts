// Until when a call may act: by the server's clock, which may be set while we are connected to it.
import { beforeEach, describe, expect, it } from 'vitest'
import { limit } from '../../src/limit/limit.ts'
import { Batcher } from '../../src/redis/batcher.ts'
import { adapterOf } from '../../src/redis/client.ts'
import { connectionOf } from '../../src/redis/connection.ts'
import { redisKeys } from '../../src/redis/redis-key.ts'
import { TAKE_ALL, TAKE_BUCKETS, TAKE_EACH } from '../../src/redis/script.generated.ts'
import { addHoldArgs, shapeOf, type SentCheck } from '../../src/redis/shape.ts'
import type { Check } from '../../src/stores/store.ts'
import { systemClock } from '../../src/time/clock.ts'
import { failure, on } from './asking.ts'
import { commandCounts, resetCounts } from './command-counts.ts'
import { oneServer } from './one-server.ts'

const HOUR = 3_600_000
const nameOf = redisKeys('sl:')
const redis = oneServer()

const used = async ({ space, key }: Check): Promise<boolean> =>
  (await redis.client.exists(nameOf(space, key))) === 1

describe.each(['everything', 'plain takes', 'single plain takes'])('the script of %s', (what) => {
  const check = on(`direct ${what}`, '10/400d')
  const call = (latest: number): Promise<unknown> => {
    const { args, plainArgs, singleArgs } = shapeOf('take', [check], 0)
    const name = nameOf(check.space, check.key)
    if (what === 'single plain takes')
      return redis.client.eval(TAKE_EACH.text, 1, name, `${latest}`, ...singleArgs!)
    return what === 'everything'
      ? redis.client.eval(TAKE_ALL.text, 1, name, '', `${latest}`, '1', '', '1', ...args)
      : redis.client.eval(TAKE_BUCKETS.text, 1, name, '', `${latest}`, '', ...plainArgs!)
  }

  it('does nothing after its deadline but tell the time', async () => {
    const now = Number((await redis.client.time())[0]) * 1000
    for (const latest of [1, now - HOUR, now - 1000]) {
      const reply = (await call(latest)) as number[]
      expect(reply.length).toBe(1)
      expect(-reply[0]!).toBeGreaterThanOrEqual(now)
      expect(await used(check)).toBe(false)
    }
  })

  it('acts before its deadline, and without one', async () => {
    const now = Number((await redis.client.time())[0]) * 1000
    for (const latest of [0, now + HOUR]) {
      const reply = (await call(latest)) as number[]
      expect(reply[0]).toBeGreaterThanOrEqual(now)
      expect(reply[1]).toBeGreaterThan(0)
      expect(await used(check)).toBe(true)
    }
  })
})

describe('a count that the server may have dropped', () => {
  it('is looked at by its last known state', async () => {
    const check = on('dropped', '10/400d')
    const [time] = await redis.client.time()
    const known: SentCheck = {
      ...check,
      lastState: { at: Number(time) * 1000, used: 10 * check.limit.window, before: 0 },
    }
    const { args } = shapeOf('peek', [known], 0)
    const name = nameOf(check.space, check.key)
    const reply = await redis.client.eval(TAKE_ALL.text, 1, name, '', '0', '1', '', '1', ...args)
    expect((reply as unknown[])[1]).toBe(0)
    expect(await used(check)).toBe(false)
  })
})

describe('a refund that arrives twice', () => {
  it.each([
    ...(['token-bucket', 'fixed-window', 'sliding-window', 'sliding-log'] as const).map(
      (algorithm) => ({ algorithm, holds: false }),
    ),
    { algorithm: 'token-bucket' as const, holds: true },
  ])('acts once: $algorithm, with holds: $holds', async ({ algorithm, holds }) => {
    const limited = limit({ quota: 10, window: '400d', algorithm })
    const check = { ...on(`twice ${algorithm} ${holds}`, limited), holds }
    const call = async (operation: 'take' | 'peek' | 'refund', one: SentCheck) => {
      const shape = shapeOf(operation, [one], 0)
      const name = nameOf(check.space, check.key)
      const args = ['', '0', '1', '', '1', ...shape.args]
      if (holds) addHoldArgs(args, [one])
      return (await redis.client.eval(TAKE_ALL.text, 1, name, ...args)) as unknown[]
    }
    const taken = await call('take', { ...check, cost: 5 })
    const takenAt = Number(taken[0])
    const refund = { ...check, cost: 2, takenAt }
    const left = async () => (await call('peek', { ...check, cost: 8 }))[1]
    expect(await left()).toBe(0)
    await call('refund', { ...refund, once: { id: 'one', life: 60_000 } })
    await call('refund', { ...refund, once: { id: 'one', life: 60_000 } })
    expect(await left()).toBe(0)
    expect(await redis.client.pttl(`${nameOf(check.space, check.key)}:one`)).toBeGreaterThan(50_000)
    await call('refund', { ...refund, once: { id: 'two', life: 60_000 } })
    expect(await left()).toBe(2)
  })

  it('may come again after it failed', async () => {
    const check = { ...on('twice wrong', '10/400d'), cost: 1 }
    const name = nameOf(check.space, check.key)
    await redis.client.rpush(name, 'not a count')
    const refund: SentCheck = { ...check, once: { id: 'one', life: 60_000 } }
    const { args } = shapeOf('refund', [refund], 0)
    const call = () => redis.client.eval(TAKE_ALL.text, 1, name, '', '0', '1', '', '1', ...args)
    expect(String(((await call()) as unknown[])[1])).toMatch(/WRONGTYPE/)
    expect(await redis.client.exists(`${name}:one`)).toBe(0)
    await redis.client.del(name)
  })
})

describe('a server whose clock is set', () => {
  // For us the server's clock moves on by as much as ours goes back.
  let ours = 0
  let batcher: Batcher
  let key = 0
  beforeEach(async () => {
    ours = 0
    key += 1
    const connection = connectionOf(redis.client, adapterOf(redis.client, false)!, 20_000)
    const clock = (): number => systemClock() + ours
    batcher = new Batcher({ connection, nameOf, timeout: 20_000, clock, serverClock: undefined })
    await take('warm')
    await resetCounts(redis.server)
  })
  const checkOn = (name: string): Check => on(`${name} ${key}`, '1000/400d')
  const take = async (name: string): Promise<number> => {
    const check = checkOn(name)
    const [verdict] = await batcher.run('take', [check])
    return verdict!.remaining
  }
  const calls = async (): Promise<number> => (await commandCounts(redis.server))['evalsha'] ?? 0

  it('forward: the call comes late, does nothing, and goes once more', async () => {
    ours = -HOUR
    expect(await take('a')).toBe(999)
    expect(await calls()).toBe(2)
    expect(await take('a')).toBe(998)
    expect(await calls()).toBe(3)
  })

  it('back: the call goes once, and the next ones have a deadline again', async () => {
    ours = HOUR
    expect(await take('a')).toBe(999)
    expect(await calls()).toBe(1)
    expect(await take('a')).toBe(998)
    expect(await calls()).toBe(2)
    ours -= HOUR
    expect(await take('a')).toBe(997)
    expect(await calls()).toBe(4)
  })

  it('to and fro: every take counts once', async () => {
    const steps = [-HOUR, HOUR, 5 * HOUR, -9 * HOUR, 1, -1, 24 * HOUR]
    for (const [i, step] of steps.entries()) {
      ours += step
      expect(await take('many')).toBe(999 - i)
    }
    expect(await calls()).toBeLessThanOrEqual(2 * steps.length)
  })

  it('back, and then it hangs: what we gave up is not charged later', async () => {
    const connection = connectionOf(redis.client, adapterOf(redis.client, false)!, 200)
    const clock = (): number => systemClock() + ours
    const hasty = new Batcher({ connection, nameOf, timeout: 200, clock, serverClock: undefined })
    const check = checkOn('hung')
    const ask = () => hasty.run('take', [check])
    await ask().catch(() => {})
    ours = HOUR
    await ask().catch(() => {})
    const before = (await batcher.run('peek', [check]))[0]!.remaining
    redis.server.kill('SIGSTOP')
    const failures = await Promise.all(Array.from({ length: 10 }, () => failure(ask())))
    redis.server.kill('SIGCONT')
    expect(failures.map(({ code }) => code)).toEqual(failures.map(() => 'store-timeout'))
    expect((await batcher.run('peek', [check]))[0]!.remaining).toBe(before)
  }, 30_000)
})

// Every key ends: not before its state says nothing any more, and not long after.
import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { ALGORITHMS } from '../../src/limit/limit.ts'
import type { Verdict } from '../../src/limit/verdict.ts'
import { redisKeys } from '../../src/redis/redis-key.ts'
import type { Check, Store } from '../../src/stores/store.ts'
import { on, patientStore, takeOne } from './asking.ts'
import { oneServer } from './one-server.ts'

/** How long a key may outlive its state: the spare second, and what a busy machine takes from one command to the next. */
const SPARE = 1000 + 10_000
const nameOf = redisKeys('sl:')
const redis = oneServer()
let store: Store
beforeAll(() => void (store = patientStore(redis.client)))

/** The instant at which the key ends; -1 when never, -2 when there is none. */
const endOf = ({ space, key }: Check): Promise<number> =>
  redis.server.cli<number>('PEXPIRETIME', nameOf(space, key))

async function endsInTime(check: Check, { at, resetAfter }: Verdict): Promise<void> {
  const end = await endOf(check)
  expect(end).toBeGreaterThanOrEqual(at + resetAfter)
  expect(end).toBeLessThanOrEqual(at + resetAfter + SPARE)
}

describe.each(ALGORITHMS)('%s', (algorithm) => {
  it.each(['1h', '1d', '40d', '400d'] as const)(
    'keeps a key as long as its state says something, over %s',
    async (window) => {
      const check = on('a', `10/${window}`, { algorithm })
      await endsInTime(check, await takeOne(store, check))
      await endsInTime(check, await takeOne(store, { ...check, cost: 7 }))
      // A refusal changes nothing; one that counts goes on from now.
      const before = await endOf(check)
      await takeOne(store, { ...check, cost: 10 })
      expect(await endOf(check)).toBe(before)
      await endsInTime(check, await takeOne(store, { ...check, cost: 10, countRefused: true }))
      await store.refund([{ ...check, cost: 2 }])
      const [given] = await store.peek([check])
      await endsInTime(check, given!)
      await store.refund([{ ...check, cost: 10 }])
      expect(await endOf(check)).toBe(-2)
    },
  )

  it.each([1, 2, 10, 500, 999])('writes an end for a window of %d ms', async (window) => {
    const check = on('short', { quota: 3, window, algorithm })
    for (let i = 0; i < 20; i++) {
      const verdict = await takeOne(store, check)
      const end = await endOf(check)
      // Gone already, or with an end: never without one.
      expect(end === -2 || end >= verdict.at).toBe(true)
    }
  })

  it('lets the server forget the key', async () => {
    const check = on('forgotten', { quota: 3, window: 500, algorithm })
    await takeOne(store, check)
    expect(await endOf(check)).toBeGreaterThan(0)
    await until('the key is gone', 20_000, async () => (await endOf(check)) === -2)
    expect((await takeOne(store, check)).remaining).toBe(2)
  }, 30_000)

  it('admits again when the time has come, by the server’s own clock', async () => {
    const check = on('again', { quota: 1, window: 200, algorithm })
    await until('it was refused', 20_000, async () => !(await takeOne(store, check)).allowed)
    const isAllowed = async (): Promise<boolean> => (await takeOne(store, check)).allowed
    expect(await until('it is allowed', 20_000, isAllowed)).toBe(true)
  }, 60_000)

  it('heals a key that lost its end', async () => {
    const check = on('persisted', '1000/400d', { algorithm })
    for (const takes of [1, 400]) {
      await Promise.all(Array.from({ length: takes }, () => takeOne(store, check)))
      await redis.server.cli('PERSIST', nameOf(check.space, check.key))
      expect(await endOf(check)).toBe(-1)
      await endsInTime(check, await takeOne(store, check))
    }
  })
})

describe('a count that tiers of different rates share', () => {
  const [basic, pro] = [on('tiers', '1/10s'), on('tiers', '10/10s')]
  const shared = { slowestQuota: 1 }

  it.each([
    ['a plain take', pro],
    ['a take that needs the whole script', { ...pro, countRefused: true }],
    ['a take of two checks', pro],
  ])('is kept until the slowest of them would allow: %s', async (name, check) => {
    const own = { ...check, key: name, ...shared }
    const more = name.includes('two') ? [{ ...own, key: `${name}, other` }] : []
    const [taken] = await store.take([own, ...more])
    expect(taken).toMatchObject({ allowed: true, resetAfter: 1000 })
    const [refused] = await store.peek([{ ...basic, key: name }])
    expect(refused!.allowed).toBe(false)
    expect(await endOf(own)).toBeGreaterThanOrEqual(taken!.at + 10_000)
    // What a refund of the faster limit leaves is kept as long.
    await store.take([{ ...own, cost: 3 }])
    await store.refund([own])
    const [left] = await store.peek([{ ...basic, key: name }])
    expect(await endOf(own)).toBeGreaterThanOrEqual(left!.at + left!.resetAfter)
  })
})

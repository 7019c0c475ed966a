// What a resilient store does besides takes: peeks, refunds, resets, the end, and callers that stop waiting.
import { describe, expect, it } from 'vitest'
import { World } from '../../test/guarded-world.ts'
import { createLimiter } from '../limiter/create-limiter.ts'

describe('a resilient store', () => {
  const openWorld = async (): Promise<World> => {
    const world = new World()
    world.answer = 'store-unreachable'
    await world.checks(5)
    return world
  }

  it('peeks at the fallback when the store does not answer, and while the breaker is open', async () => {
    const world = new World()
    world.answer = 'store-busy'
    expect(await world.limiter.peek('a')).toMatchObject({ degraded: true, cause: 'store-busy' })
    const open = await openWorld()
    const { calls } = open
    await open.time.pass(1000)
    expect(await open.limiter.peek('a')).toMatchObject({ degraded: true, remaining: 0 })
    expect(open.calls).toBe(calls)
  })

  it('refunds to where the units were taken', async () => {
    const world = new World()
    const stored = await world.check()
    await world.time.pass(10)
    world.answer = 'store-unreachable'
    const fallback = (await world.checks(5))[0]!
    await world.limiter.refund('a', 1, fallback.at)
    expect(await world.fallbackRemaining('a')).toBe(1)
    world.answer = 0
    await world.time.pass(500)
    await world.checks(2, 'b')
    await world.limiter.refund('a', 1, fallback.at)
    expect(await world.fallbackRemaining('a')).toBe(2)
    expect(world.inner.peek('a').remaining).toBe(9)
    const given = world.limiter.refund('a', 1, stored.at)
    await world.time.pass(10)
    await given
    expect(world.inner.peek('a').remaining).toBe(10)
  })

  it('refunds to where the units were taken, also after requests that no rule limits', async () => {
    const world = new World()
    const policy = {
      name: 'default',
      rules: [{ name: 'a', by: ['key'], when: { key: 'a' }, limit: '10/h' }],
    } as const
    const limiter = createLimiter({ policy, store: world.store })
    const stored = await world.check('a', limiter)
    world.answer = 'store-unreachable'
    await world.time.pass(1)
    const fallback = await world.check('a', limiter)
    await world.checks(5, 'b')
    await world.check('of no rule', limiter)
    expect([stored.degraded, fallback.degraded]).toEqual([false, true])
    world.answer = 0
    await world.time.pass(500)
    await world.checks(2, 'b')
    for (const { at } of [fallback, stored]) {
      const refunded = limiter.refund('a', 1, at)
      await world.time.pass(1)
      await refunded
    }
    const peek = limiter.peek('a')
    await world.time.pass(1)
    expect((await peek).remaining).toBe(10)
    world.answer = 'throws'
    expect((await limiter.peek('a')).remaining).toBe(5)
  })

  it('drops refunds that the store cannot take, and reports it', async () => {
    const world = await openWorld()
    await expect(world.limiter.refund('a', 1, 5)).resolves.toBeUndefined()
    expect(world.events.at(-1)).toMatchObject({ type: 'fallback', operation: 'refund' })
    const closed = new World()
    closed.answer = 'store-busy'
    await expect(closed.limiter.refund('a', 1, 5)).resolves.toBeUndefined()
    expect(closed.events.at(-1)).toMatchObject({ type: 'fallback', operation: 'refund' })
  })

  it('refunds to the fallback, without an instant, while the breaker is open', async () => {
    const world = await openWorld()
    await world.limiter.refund('a', 2)
    expect(await world.fallbackRemaining('a')).toBe(2)
  })

  it('resets both, and rejects when the store cannot', async () => {
    const world = await openWorld()
    await expect(world.limiter.reset('a')).rejects.toMatchObject({ code: 'store-unreachable' })
    expect(await world.fallbackRemaining('a')).toBe(5)
    world.inner.check('a', 5)
    world.answer = 0
    const done = world.limiter.reset('a')
    await world.time.pass(1)
    await done
    expect(world.inner.peek('a').remaining).toBe(10)
  })

  it('gives up a peek, a refund and a reset in time', async () => {
    const world = new World()
    world.answer = 'never'
    const all = Promise.allSettled([
      world.limiter.peek('a'),
      world.limiter.refund('a'),
      world.limiter.reset('a'),
    ])
    await world.time.pass(100)
    const [peek, refund, reset] = await all
    expect(peek).toMatchObject({ value: { degraded: true } })
    expect(refund).toMatchObject({ status: 'fulfilled' })
    expect(reset).toMatchObject({ reason: { code: 'store-timeout' } })
  })

  it('is released and closed twice without harm', async () => {
    let watchers = 0
    const watch = (): (() => void) => {
      watchers += 1
      return () => void (watchers = 0)
    }
    const world = new World({}, { watch })
    expect(watchers).toBe(1)
    await world.store.close()
    await world.store.close()
    expect(watchers).toBe(0)
    await world.limiter.close()
    await expect(world.limiter.check('a')).rejects.toMatchObject({ code: 'limiter-closed' })
  })
})

describe('a signal', () => {
  it('that is aborted already sends nothing', async () => {
    const world = new World()
    await expect(world.limiter.check('a', 1, AbortSignal.abort('gone'))).rejects.toBe('gone')
    expect(world.calls).toBe(0)
  })

  it('ends the wait; the charge stands, once', async () => {
    const world = new World()
    world.answer = 50
    const stop = new AbortController()
    const answer = world.limiter.check('a', 1, stop.signal)
    world.time.at(world.time.now + 10, () => stop.abort(new Error('gone')))
    const ended = Promise.allSettled([answer])
    await world.time.pass(10)
    expect(await ended).toMatchObject([{ reason: { message: 'gone' } }])
    await world.time.pass(100)
    expect(world.inner.peek('a').remaining).toBe(9)
    expect(world.events).toEqual([])
  })

  it('that is never aborted changes nothing, and keeps no listener', async () => {
    const world = new World()
    const { signal } = new AbortController()
    let listeners = 0
    const watched = new Proxy(signal, {
      get: (target, name) => {
        if (name === 'addEventListener') listeners += 1
        if (name === 'removeEventListener') listeners -= 1
        const value = Reflect.get(target, name) as unknown
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const answer = world.limiter.check('a', 1, watched)
    await world.time.pass(1)
    expect((await answer).allowed).toBe(true)
    expect(listeners).toBe(0)
  })
})

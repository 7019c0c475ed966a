// What a guard does beside checks: looks, gifts, resets, the end, and callers who stop waiting.
import { describe, expect, it } from 'vitest'
import { World } from '../../test/guarded-world.ts'
import { createLimiter } from '../limiter/create-limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fallbackOf } from './fallback.ts'

describe('looking, giving, resetting and closing', () => {
  const openWorld = async (): Promise<World> => {
    const world = new World()
    world.answer = 'store-unreachable'
    await world.checks(5)
    return world
  }

  it('looks at the fallback when the store does not answer, and when it is not asked', async () => {
    const world = new World()
    world.answer = 'store-busy'
    expect(await world.guard.peek('a')).toMatchObject({ degraded: true, cause: 'store-busy' })
    const open = await openWorld()
    const { asked } = open
    await open.time.pass(1000)
    expect(await open.guard.peek('a')).toMatchObject({ degraded: true, remaining: 0 })
    expect(open.asked).toBe(asked)
  })

  it('gives back to where the units were taken', async () => {
    const world = new World()
    const stored = await world.check()
    await world.time.pass(10)
    world.answer = 'store-unreachable'
    const stoodIn = (await world.checks(5))[0]!
    await world.guard.refund('a', 1, stoodIn.at)
    expect(world.spare.peek('a').remaining).toBe(1)
    world.answer = 0
    await world.time.pass(500)
    await world.checks(2, 'b')
    await world.guard.refund('a', 1, stoodIn.at)
    expect(world.spare.peek('a').remaining).toBe(2)
    expect(world.inner.peek('a').remaining).toBe(9)
    const given = world.guard.refund('a', 1, stored.at)
    await world.time.pass(10)
    await given
    expect(world.inner.peek('a').remaining).toBe(10)
  })

  it('gives back to where the units were taken, whoever else was answered by no rule', async () => {
    const spare = createLimiter({
      policy: {
        name: 'spare',
        rules: [{ name: 'a', by: ['key'], when: { key: 'a' }, limit: '5/h' }],
      },
      store: memoryStore({ clock: () => world.time.clock() }),
    })
    const world = new World({ fallback: fallbackOf(spare) })
    const stored = await world.check()
    world.answer = 'store-unreachable'
    const [stoodIn] = await world.checks(5)
    await world.checks(1, 'of no rule')
    world.answer = 0
    await world.time.pass(500)
    await world.checks(1, 'b')
    // While one probe is on its way, the fallback begins anew: with nobody's units, then with some.
    world.answer = 50
    const probe = world.guard.check('b')
    await world.checks(1, 'of no rule')
    await world.checks(1)
    await world.time.pass(50)
    await probe
    world.answer = 0
    for (const { at } of [stoodIn!, stored]) {
      const given = world.guard.refund('a', 1, at)
      await world.time.pass(1)
      await given
    }
    expect(spare.peek('a').remaining).toBe(1)
    expect(world.inner.peek('a').remaining).toBe(10)
  })

  it('drops what the store cannot take back, and says so', async () => {
    const world = await openWorld()
    await expect(world.guard.refund('a', 1, 5)).resolves.toBeUndefined()
    expect(world.events.at(-1)).toMatchObject({ type: 'fallback', operation: 'refund' })
    const closed = new World()
    closed.answer = 'store-busy'
    await expect(closed.guard.refund('a', 1, 5)).resolves.toBeUndefined()
    expect(closed.events.at(-1)).toMatchObject({ type: 'fallback', operation: 'refund' })
  })

  it('gives to the fallback, without an instant, while the store is not asked', async () => {
    const world = await openWorld()
    await world.guard.refund('a', 2)
    expect(world.spare.peek('a').remaining).toBe(2)
  })

  it('resets both, and rejects when the store cannot', async () => {
    const world = await openWorld()
    await expect(world.guard.reset('a')).rejects.toMatchObject({ code: 'store-unreachable' })
    expect(world.spare.peek('a').remaining).toBe(5)
    world.inner.check('a', 5)
    world.answer = 0
    const done = world.guard.reset('a')
    await world.time.pass(1)
    await done
    expect(world.inner.peek('a').remaining).toBe(10)
  })

  it('gives a look, a gift and a reset up in time', async () => {
    const world = new World()
    world.answer = 'never'
    const all = Promise.allSettled([
      world.guard.peek('a'),
      world.guard.refund('a'),
      world.guard.reset('a'),
    ])
    await world.time.pass(100)
    const [peek, refund, reset] = await all
    expect(peek).toMatchObject({ value: { degraded: true } })
    expect(refund).toMatchObject({ status: 'fulfilled' })
    expect(reset).toMatchObject({ reason: { code: 'store-timeout' } })
  })

  it('closes both, once and again', async () => {
    const world = await openWorld()
    await world.guard.close()
    await world.guard.close()
    await expect(world.guard.check('a')).rejects.toMatchObject({ code: 'limiter-closed' })
  })
})

describe('a signal', () => {
  it('that is aborted already asks nobody', async () => {
    const world = new World()
    await expect(world.guard.check('a', 1, AbortSignal.abort('gone'))).rejects.toBe('gone')
    expect(world.asked).toBe(0)
  })

  it('ends the wait; the charge stands, once', async () => {
    const world = new World()
    world.answer = 50
    const stop = new AbortController()
    const answer = world.guard.check('a', 1, stop.signal)
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
    const answer = world.guard.check('a', 1, watched)
    await world.time.pass(1)
    expect((await answer).allowed).toBe(true)
    expect(listeners).toBe(0)
  })
})

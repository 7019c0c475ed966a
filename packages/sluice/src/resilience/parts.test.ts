import { describe, expect, it } from 'vitest'
import { SluiceError } from '../errors.ts'
import { createLimiter } from '../limiter/create-limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { systemTimers } from '../time/timers.ts'
import { Breaker } from './breaker.ts'
import { fallbackOf } from './fallback.ts'
import { Guard } from './guard.ts'

/** A limiter of which keys belong to parts by their first letter; those of some parts fail. */
function parted() {
  const clock = fakeClock(1_800_000_000_000)
  const limiterOf = (quota: number) =>
    createLimiter({
      limit: { quota, window: '1h', algorithm: 'fixed-window' },
      store: memoryStore({ clock }),
    })
  const inner = limiterOf(1000)
  const lost = new Set<string>()
  const asked: string[] = []
  const reach = async <T>(key: unknown, act: () => T): Promise<T> => {
    asked.push(String(key))
    if (lost.has(String(key)[0]!))
      throw new SluiceError('store-unreachable', 'gone', { transient: true })
    return act()
  }
  const events: string[] = []
  const guard = new Guard(
    {
      check: (key, cost) => reach(key, () => inner.check(key, cost)),
      peek: (key, cost) => reach(key, () => inner.peek(key, cost)),
      refund: (key, cost, takenAt) => reach(key, () => inner.refund(key, cost, takenAt)),
      reset: (key) => reach(key, () => inner.reset(key)),
      close: () => inner.close(),
    },
    {
      timeout: null,
      breaker: new Breaker(),
      division: {
        partOf: (key) => (key as string).charCodeAt(0) - 97,
        breaker: () => new Breaker(),
      },
      fallback: fallbackOf(limiterOf(500)),
      onEvent: ({ type }) => void (type === 'fallback' || events.push(type)),
      clock,
      timers: systemTimers,
      random: () => 0.5,
    },
  )
  const ask = async (...keys: string[]): Promise<boolean[]> => {
    const degraded: boolean[] = []
    for (const key of keys) {
      clock.advance(1)
      degraded.push((await guard.check(key)).degraded)
    }
    return degraded
  }
  return { guard, ask, lost, asked, events, clock }
}

describe('a store whose parts fail apart', () => {
  it('is asked for the parts that are well while another is left alone', async () => {
    const { ask, lost, asked } = parted()
    lost.add('b')
    for (let i = 0; i < 10; i++) await ask('a', 'b', 'c')
    asked.length = 0
    expect(await ask('a', 'b', 'c')).toEqual([false, true, false])
    expect(asked).toEqual(['a', 'c'])
  })

  it('is one store to those who hear of it', async () => {
    const { ask, lost, events, clock } = parted()
    lost.add('a').add('b')
    for (let i = 0; i < 10; i++) await ask('a', 'b')
    expect(events).toEqual(['opened'])
    lost.delete('a')
    clock.advance(1000)
    await ask('a', 'a', 'a')
    expect(events).toEqual(['opened', 'half-open'])
    lost.delete('b')
    clock.advance(1000)
    expect(await ask('b', 'b', 'b')).toEqual([false, false, false])
    expect(events).toEqual(['opened', 'half-open', 'half-open', 'closed'])
  })

  it('gives units back to where they were taken, part by part', async () => {
    const { guard, ask, lost, asked, clock } = parted()
    lost.add('b')
    for (let i = 0; i < 10; i++) await ask('a', 'b')
    const stood = await guard.check('b')
    const real = await guard.check('a')
    expect([stood.degraded, real.degraded, stood.at]).toEqual([true, false, clock()])
    asked.length = 0
    await guard.refund('b', 1, stood.at)
    await guard.refund('a', 1, real.at)
    expect(asked).toEqual(['a'])
  })

  it('asks every part again when the client says that it has connected', async () => {
    const { guard, ask, lost, asked } = parted()
    lost.add('a').add('b')
    for (let i = 0; i < 10; i++) await ask('a', 'b')
    lost.clear()
    guard.hint()
    asked.length = 0
    expect(await ask('a', 'b')).toEqual([false, false])
    expect(asked).toEqual(['a', 'b'])
  })
})

import { describe, expect, it } from 'vitest'
import { SluiceError } from '../errors.ts'
import { createLimiter } from '../limiter/create-limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Check, RemoteStore } from '../stores/store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { withResilience } from './resilient-store.ts'

/** A store whose keys belong to shards by their first letter; those of some shards fail. */
function sharded() {
  const clock = fakeClock(1_800_000_000_000)
  const inner = memoryStore({ clock })
  const lost = new Set<string>()
  const asked: string[] = []
  let reachable = (): void => {}
  const reach = async <T>([check]: readonly Check[], act: () => T): Promise<T> => {
    const { key } = check!
    asked.push(key)
    if (lost.has(key[0]!)) throw new SluiceError('store-unreachable', 'gone', { transient: true })
    return act()
  }
  const events: string[] = []
  const remote: RemoteStore = {
    timeout: 100,
    take: (checks) => reach(checks, () => inner.take(checks)),
    peek: (checks) => reach(checks, () => inner.peek(checks)),
    refund: (checks) => reach(checks, () => inner.refund(checks)),
    reset: (checks) => reach(checks, () => inner.reset(checks)),
    close: () => inner.close(),
    shardOf: ({ key }) => key.charCodeAt(0) - 97,
    watch: (listener) => {
      reachable = () => listener({ type: 'reachable' })
      return () => {}
    },
  }
  const store = withResilience(
    remote,
    { onEvent: ({ type }) => void (type === 'fallback' || events.push(type)) },
    { clock, random: () => 0.5 },
  )
  const limit = { quota: 1000, window: '1h', algorithm: 'fixed-window' } as const
  const limiter = createLimiter({ limit, store })
  const ask = async (...keys: string[]): Promise<boolean[]> => {
    const degraded: boolean[] = []
    for (const key of keys) {
      clock.advance(1)
      degraded.push((await limiter.check(key)).degraded)
    }
    return degraded
  }
  return { limiter, ask, lost, asked, events, clock, hint: () => reachable() }
}

describe('a store whose shards fail independently', () => {
  it('is called for the shards that work while another is left alone', async () => {
    const { ask, lost, asked } = sharded()
    lost.add('b')
    for (let i = 0; i < 10; i++) await ask('a', 'b', 'c')
    asked.length = 0
    expect(await ask('a', 'b', 'c')).toEqual([false, true, false])
    expect(asked).toEqual(['a', 'c'])
  })

  it('is one store to listeners', async () => {
    const { ask, lost, events, clock } = sharded()
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

  it('refunds units to where they were taken, shard by shard', async () => {
    const { limiter, ask, lost, asked, clock } = sharded()
    lost.add('b')
    for (let i = 0; i < 10; i++) await ask('a', 'b')
    const stood = await limiter.check('b')
    const real = await limiter.check('a')
    expect([stood.degraded, real.degraded, stood.at]).toEqual([true, false, clock()])
    asked.length = 0
    await limiter.refund('b', 1, stood.at)
    await limiter.refund('a', 1, real.at)
    expect(asked).toEqual(['a'])
  })

  it('probes every shard when the client has connected', async () => {
    const { ask, lost, asked, hint } = sharded()
    lost.add('a').add('b')
    for (let i = 0; i < 10; i++) await ask('a', 'b')
    lost.clear()
    hint()
    asked.length = 0
    expect(await ask('a', 'b')).toEqual([false, false])
    expect(asked).toEqual(['a', 'b'])
  })
})

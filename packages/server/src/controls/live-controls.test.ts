// Blocks and overrides, in this process and in a real Redis: the same promises for both.
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { fakeClock } from 'sluice/testing'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { createLog } from '../log/log.ts'
import {
  controlId,
  type Block,
  type Control,
  type ControlStore,
  type LiveOverride,
} from './control.ts'
import { LiveControls } from './live-controls.ts'
import { LocalControlStore } from './local-control-store.ts'
import { RedisControlStore } from './redis-control-store.ts'

const silent = createLog('silent')
const common = { note: '', by: 'test' }

function newBlock(attributes: Record<string, string>, policy: string | null = null) {
  const id = controlId('block', [policy, attributes])
  return { ...common, kind: 'block', id, policy, attributes } as const
}

function newOverride(user: string, limit: '7/min' | 'unlimited' = '7/min') {
  const id = controlId('override', ['api', 'per-user', { user }])
  const place = { policy: 'api', rule: 'per-user', when: { user } }
  return { ...common, kind: 'override', id, ...place, limit } as const
}

const redis = await startRedis()
const makers: [string, () => { store: ControlStore; other: ControlStore }][] = [
  [
    'in this process',
    () => {
      const store = new LocalControlStore()
      return { store, other: store }
    },
  ],
  [
    'in Redis',
    () => {
      const prefix = `p${Math.random()}:`
      const stores = [0, 1].map(() => {
        const client = new Redis(redis.url)
        onTestFinished(() => client.disconnect())
        return new RedisControlStore(client, prefix)
      })
      return { store: stores[0]!, other: stores[1]! }
    },
  ],
]

describe.each(makers)('kept %s', (_, make) => {
  it('one that is set is read, with its instants', async () => {
    const { store } = make()
    const before = Date.now()
    expect(await store.put(newBlock({ user: 'ann' }), 60_000)).toBe(true)
    expect(await store.put(newOverride('bob'), null)).toBe(true)
    // Two of one millisecond have no order.
    const read = (await store.read())!
    const first = read.find(({ kind }) => kind === 'block')
    const second = read.find(({ kind }) => kind === 'override')
    expect(first).toMatchObject(newBlock({ user: 'ann' }))
    expect(Math.abs(first!.since - before)).toBeLessThan(5000)
    expect(first!.until).toBe(first!.since + 60_000)
    expect(second).toMatchObject({ ...newOverride('bob'), until: null })
    expect(await store.read()).toBeUndefined()
  })

  it('setting one again replaces it', async () => {
    const { store } = make()
    await store.put(newBlock({ a: '1', b: '2' }), 60_000)
    await store.put({ ...newBlock({ b: '2', a: '1' }), note: 'again' }, 90_000)
    expect(await store.read()).toMatchObject([{ note: 'again' }])
  })

  it('removing tells whether it was there', async () => {
    const { store, other } = make()
    const { id } = newBlock({ user: 'ann' })
    await store.put(newBlock({ user: 'ann' }), 60_000)
    expect(await other.remove(id)).toBe(true)
    expect(await store.remove(id)).toBe(false)
    expect(await store.read()).toEqual([])
  })

  it('what others set becomes known, and ends in its time', async () => {
    const { store, other } = make()
    const overrides: (readonly LiveOverride[])[] = []
    const onOverrides = (all: readonly LiveOverride[]) => void overrides.push(all)
    const controls = new LiveControls({ store, log: silent, onOverrides })
    onTestFinished(() => controls.close())
    await controls.start()
    expect(controls.blocks).toBeNull()
    const [block, override] = [newBlock({ user: 'ann' }), newOverride('bob')]
    await other.put(block, 600_000)
    await other.put(override, 600_000)
    await until('it is known', 5000, async () => controls.blocks !== null && overrides.length === 1)
    expect(controls.blocks!.find('api', { user: 'ann' }, Date.now())).toBeDefined()
    expect(controls.listOverrides()).toHaveLength(1)
    await other.put(block, 500)
    await other.put(override, 500)
    await until(
      'it has ended',
      5000,
      async () => controls.blocks === null && overrides.at(-1)?.length === 0,
    )
    expect(controls.listOverrides()).toEqual([])
  })
})

/** Milliseconds since the epoch, by the server's clock. */
async function serverTime(client: Redis): Promise<number> {
  const [seconds, micros] = await client.time()
  return Number(seconds) * 1000 + Number(micros) / 1000
}

describe('in Redis', () => {
  const connected = () => {
    const client = new Redis(redis.url)
    onTestFinished(() => client.disconnect())
    return client
  }

  it('the hash has a time to live that covers everything in it', async () => {
    const client = connected()
    const store = new RedisControlStore(client, 'ttl:')
    await store.put(newBlock({ user: 'ann' }), 60_000)
    const key = 'ttl:{~controls}state'
    expect(await client.pttl(key)).toBeGreaterThan(59_000)
    await store.put(newBlock({ user: 'bob' }), 1000)
    expect(await client.pttl(key)).toBeGreaterThan(58_000)
    await store.put(newOverride('x'), null)
    expect(await client.pttl(key)).toBeGreaterThan(29 * 86_400_000)
    await client.pexpire(key, 10_000)
    await store.read()
    await store.read()
    expect(await client.pttl(key)).toBeGreaterThan(29 * 86_400_000)
    expect(await client.keys('ttl:*')).toEqual([key])
  })

  it('what has ended is cleared away by the next change, and not when it was set anew', async () => {
    const client = connected()
    const clock = fakeClock(Date.now())
    const store = new RedisControlStore(client, 'clear:', { clock })
    const other = new RedisControlStore(client, 'clear:')
    await store.put(newBlock({ user: 'ann' }), 1)
    await store.put(newBlock({ user: 'bob' }), 100)
    await store.read()
    await other.put(newBlock({ user: 'bob' }), 60_000)
    clock.advance(200)
    const ended = await serverTime(client)
    await until(
      'it ends by the server’s clock',
      5000,
      async () => (await serverTime(client)) > ended + 1,
    )
    await store.put(newBlock({ user: 'eve' }), 60_000)
    const names = (await store.read())!.map((one) => (one as Block).attributes['user'])
    expect(new Set(names)).toEqual(new Set(['bob', 'eve']))
  })

  it('strings that another program has written are skipped', async () => {
    const client = connected()
    const store = new RedisControlStore(client, 'bad:')
    await store.put(newBlock({ user: 'ann' }), 60_000)
    const wrong = ['x', '1 2 {', '1 2 {}', '1 9999999999999 {"id":"f4","kind":"block"}', '{}', '']
    for (const [i, text] of wrong.entries())
      await client.hset('bad:{~controls}state', `f${i}`, text)
    await client.hset('bad:{~controls}state', 'version', 'other')
    expect(await store.read()).toHaveLength(1)
  })

  it('what is known last holds while Redis is unreachable, to its own end', async () => {
    const own = await startRedis()
    const client = new Redis(own.url, { enableOfflineQueue: false, maxRetriesPerRequest: 0 })
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    const store = new RedisControlStore(client, 'sl:')
    const controls = new LiveControls({ store, log: silent, onOverrides: () => {} })
    onTestFinished(() => controls.close())
    await controls.start()
    await controls.put(newBlock({ user: 'ann' }), 3000)
    await controls.put(newBlock({ user: 'bob' }), 60_000)
    await own.stop()
    const read = vi.spyOn(store, 'read')
    await until(
      'a look has failed',
      10_000,
      async () => read.mock.settledResults[0]?.type === 'rejected',
    )
    expect(controls.listBlocks()).toContainEqual(
      expect.objectContaining({ attributes: { user: 'bob' } }),
    )
    await until('the first ends', 10_000, async () => controls.blocks!.size === 1)
    await expect(controls.put(newBlock({ user: 'eve' }), 1000)).rejects.toThrow(/writeable|closed/i)
    expect(controls.listBlocks()).toMatchObject([{ attributes: { user: 'bob' } }])
  })

  describe('lost by the server', () => {
    /** Two instances on a server of their own, each with the blocks and overrides that it has written back. */
    const startTwo = async () => {
      const own = await startRedis()
      onTestFinished(() => own.stop())
      const instances = await Promise.all(
        [0, 1].map(async () => {
          const client = new Redis(own.url)
          client.on('error', () => {})
          onTestFinished(() => client.disconnect())
          const restored: (readonly Control[])[] = []
          const onRestored = (controls: readonly Control[]) => void restored.push(controls)
          const store = new RedisControlStore(client, 'sl:', { onRestored })
          await store.read()
          return { store, restored }
        }),
      )
      return { own, one: instances[0]!, two: instances[1]! }
    }
    const names = (controls: readonly Control[] | undefined) =>
      controls?.map((one) => (one.kind === 'block' ? one.attributes['user'] : one.when['user']))

    it.each([
      ['FLUSHALL', async (server: RedisServer) => void (await server.cli('FLUSHALL'))],
      ['a restart without data', (server: RedisServer) => server.restart()],
    ])('in %s are written back, each with its own end', async (_, lose) => {
      const { own, one, two } = await startTwo()
      await one.store.put({ ...newBlock({ user: 'ann' }), note: 'spam' }, 60_000)
      await one.store.put(newOverride('bob'), null)
      const before = (await one.store.read())!
      await lose(own)
      expect(new Set(names(await one.store.read()))).toEqual(new Set(['ann', 'bob']))
      expect(one.restored.map((controls) => controls.length)).toEqual([2])
      const after = (await two.store.read())!
      for (const control of before) {
        const same = after.find(({ id }) => id === control.id)!
        const { since, until: end, ...rest } = control
        expect(same).toMatchObject(rest)
        // Each reading has the distance of the clocks from a round trip, which a busy machine makes longer.
        expect(Math.abs(same.since - since)).toBeLessThan(30_000)
        expect(same.until === null).toBe(end === null)
        expect(Math.abs((same.until ?? 0) - (end ?? 0))).toBeLessThan(30_000)
      }
      expect(await one.store.read()).toBeUndefined()
      expect(await own.cli<number>('PTTL', 'sl:{~controls}state')).toBeGreaterThan(1000)
    })

    it('are written back beside one that was set before the loss was noticed', async () => {
      const { own, one, two } = await startTwo()
      await one.store.put(newBlock({ user: 'ann' }), 60_000)
      await Promise.all([one.store.read(), two.store.read()])
      await own.cli('FLUSHALL')
      await two.store.put({ ...newBlock({ user: 'eve' }), note: 'newer' }, 60_000)
      expect(new Set(names(await one.store.read()))).toEqual(new Set(['ann', 'eve']))
      expect(new Set(names(await two.store.read()))).toEqual(new Set(['ann', 'eve']))
      expect(two.restored).toEqual([])
    })

    it('stay removed if one was removed before another instance noticed the loss', async () => {
      const { own, one, two } = await startTwo()
      const block = newBlock({ user: 'ann' })
      await one.store.put(block, 60_000)
      await one.store.put(newBlock({ user: 'bob' }), 60_000)
      await Promise.all([one.store.read(), two.store.read()])
      await own.cli('FLUSHALL')
      await one.store.read()
      expect(await one.store.remove(block.id)).toBe(true)
      expect(names(await two.store.read())).toEqual(['bob'])
      expect(two.restored).toEqual([])
      await one.store.put(block, 60_000)
      expect(new Set(names(await two.store.read()))).toEqual(new Set(['ann', 'bob']))
    })

    it('can be removed at once', async () => {
      const { own, one } = await startTwo()
      const controls = new LiveControls({ store: one.store, log: silent, onOverrides: () => {} })
      onTestFinished(() => controls.close())
      const block = newBlock({ user: 'ann' })
      await controls.put(block, 60_000)
      await own.cli('FLUSHALL')
      expect(await controls.remove(block.id)).toBe(true)
      expect(controls.listBlocks()).toEqual([])
      expect(await controls.remove(block.id)).toBe(false)
    })

    it('are as many as there may be', async () => {
      const { own, one } = await startTwo()
      for (let i = 0; i < 250; i++) await one.store.put(newBlock({ user: `u${i}` }), 60_000)
      await one.store.read()
      await own.cli('FLUSHALL')
      expect(await one.store.read()).toHaveLength(250)
      expect(one.restored).toHaveLength(1)
    })

    it('are not written back once they have ended', async () => {
      const { own } = await startTwo()
      const clock = fakeClock(Date.now())
      const client = new Redis(own.url)
      onTestFinished(() => client.disconnect())
      const onRestored = vi.fn<() => void>()
      const store = new RedisControlStore(client, 'sl:', { clock, onRestored })
      await store.put(newBlock({ user: 'ann' }), 60_000)
      await store.read()
      await own.cli('FLUSHALL')
      clock.advance(61_000)
      expect(await store.read()).toEqual([])
      expect(onRestored).not.toHaveBeenCalled()
    })
  })

  it('a server that hangs is asked once, and the start does not wait for it', async () => {
    let asked = 0
    const store = new RedisControlStore({ eval: () => (asked++, new Promise(() => {})) }, 'sl:')
    const controls = new LiveControls({ store, log: silent, onOverrides: () => {} })
    onTestFinished(() => controls.close())
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const started = controls.start()
    await vi.advanceTimersByTimeAsync(600)
    await started
    await vi.advanceTimersByTimeAsync(60_000)
    expect(asked).toBe(1)
  })
})

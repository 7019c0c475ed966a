// What a cluster makes of requests: one slot is one atomic call, several slots are taken one after the other, and slots move.
import { Cluster } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCluster, type RedisCluster } from '../../../../test/servers/redis-cluster.ts'
import { slotOf } from '../../../../test/servers/slots.ts'
import { redisKeys } from '../../src/redis/redis-key.ts'
import { slotOf as ourSlotOf } from '../../src/redis/slot.ts'
import type { Check, Store } from '../../src/stores/store.ts'
import { failure, left, nothingUnhandled, on, patientStore, takeOne } from './asking.ts'
import { cluster as clients, type Connected } from './clients.ts'
import { commandCounts, resetCounts } from './command-counts.ts'
import { everyKeyExpires } from './keys-expire.ts'

let cluster: RedisCluster
nothingUnhandled()
beforeAll(async () => {
  cluster = await startCluster()
}, 60_000)
afterAll(() => cluster.stop())
everyKeyExpires(() => cluster.nodes)

const nameOf = redisKeys('sl:')
const slotOfKey = (key: string): number => slotOf(nameOf('any', key))

/** Keys that live on different nodes. */
const [near, far, third] = ['a', 'b', 'c', 'd', 'e', 'f'].reduce<string[]>((found, key) => {
  const node = (one: string): number => Math.floor(slotOfKey(one) / (16_384 / 3))
  return found.some((one) => node(one) === node(key)) ? found : [...found, key]
}, []) as [string, string, string]

describe('names', () => {
  it('have their slot in the key, whatever the space and the prefix', () => {
    for (const key of ['a', 'user:42', '', '{a}', '}{', 'ключ', '🙂', 'x'.repeat(500), '~#a']) {
      const slots = ['one', 'two'].flatMap((space) =>
        ['sl:', 'other:'].map((prefix) => redisKeys(prefix)(space, key)),
      )
      expect(new Set(slots.map(slotOf)).size).toBe(1)
      expect(new Set(slots).size).toBe(4)
      expect(slots.map(ourSlotOf)).toEqual(slots.map(slotOf))
    }
  })

  it('are in the slot that the server says', async () => {
    for (const key of ['a', 'user:42', 'ключ', '🙂', 'x'.repeat(500)]) {
      const name = nameOf('space', key)
      expect(ourSlotOf(name)).toBe(await cluster.nodes[0]!.cli('CLUSTER', 'KEYSLOT', name))
    }
  })
})

describe.each(Object.entries(clients))('through %s', (name, open) => {
  let connected: Connected
  let store: Store
  beforeAll(async () => {
    connected = await open(cluster.nodes)
    store = patientStore(connected.client, { prefix: `${name}:` })
    await store.peek([on('first', '1/400d')])
  }, 30_000)
  afterAll(() => connected.close())

  const counts = async (): Promise<number> => {
    const all = await Promise.all(cluster.nodes.map(commandCounts))
    return all.reduce((sum, { evalsha = 0 }) => sum + evalsha, 0)
  }
  const reset = () => Promise.all(cluster.nodes.map(resetCounts))

  it('checks of one key under several rules are one call', async () => {
    const checks = [on('one', '5/400d'), on('one', '9/300d'), on('one', '7/200d')]
    await store.take(checks)
    await reset()
    await store.take(checks)
    expect(await counts()).toBe(1)
    expect(await left(store, ...checks)).toEqual([3, 7, 5])
  })

  it('a refusal in a later slot gives back what the earlier ones took', async () => {
    const open = [on(near, '10/400d', { cost: 3 }), on(far, '10/400d', { cost: 2 })]
    const shut = on(third, '0/400d')
    for (const order of [
      [...open, shut],
      [shut, ...open],
      [open[0]!, shut, open[1]!],
    ]) {
      const verdicts = await store.take(order)
      expect(verdicts.map(({ allowed }) => allowed)).toEqual(order.map((check) => check !== shut))
      expect(verdicts.map(({ remaining }) => remaining)).toEqual(
        order.map((check) => (check === shut ? 0 : 10)),
      )
      expect(await left(store, ...open)).toEqual([10, 10])
    }
    expect((await store.take(open)).map(({ remaining }) => remaining)).toEqual([7, 8])
    await store.refund(open)
    expect(await left(store, ...open)).toEqual([10, 10])
  })

  it('stops at the first refusal', async () => {
    const checks = [on(near, '0/400d'), on(far, '10/100d'), on(third, '10/100d')]
    await store.take(checks)
    await reset()
    await store.take(checks)
    // One take that refuses, and a look at each of the others for what they would say.
    expect(await counts()).toBe(3)
  })

  it('charges refusals where asked, and shadows only when all goes through', async () => {
    const counting = on(`${near}`, '10/50d', { countRefused: true })
    const shadow = on(far, '10/50d', { shadow: true })
    const shut = on(third, '0/50d')
    await store.take([counting, shadow, shut])
    await store.take([shut, shadow, counting])
    expect(await left(store, counting, shadow)).toEqual([8, 10])
    await store.take([counting, shadow])
    expect(await left(store, counting, shadow)).toEqual([7, 9])
  })

  it('gives back when a slot cannot answer', async () => {
    const good = on(near, '10/40d')
    const bad = on(far, '10/40d')
    const key = redisKeys(`${name}:`)(bad.space, bad.key)
    const owner = await cluster.nodeFor(slotOf(key))
    await owner.cli('LPUSH', key, 'mine')
    expect((await failure(store.take([good, bad]))).code).toBe('store-wrong-type')
    expect((await failure(store.take([bad, good]))).code).toBe('store-wrong-type')
    expect(await left(store, good)).toEqual([10])
    await owner.cli('DEL', key)
  })

  it('takes of many keys in one turn are one call for each slot', async () => {
    const checks = Array.from({ length: 300 }, (_, i) => on(`many ${i % 100}`, '10/400d'))
    const verdicts = await Promise.all(checks.map((check) => takeOne(store, check)))
    expect(verdicts.map(({ remaining }) => remaining)).toEqual(
      checks.map((_, i) => 9 - Math.floor(i / 100)),
    )
  })
})

describe.each(Object.entries(clients))('while slots move, through %s', (name, open) => {
  it('nothing is lost and nothing counts twice', async () => {
    const { client, close } = await open(cluster.nodes)
    const store = patientStore(client, { prefix: `${name}move:`, timeout: 5000 })
    const [from, to] = [cluster.nodes[0]!, cluster.nodes[1]!]
    const keys = Array.from({ length: 2000 }, (_, i) => `move ${i}`)
      .filter((key) => slotOfKey(key) < 5000)
      .slice(0, 40)
    const slots = [...new Set(keys.map(slotOfKey))]
    const owner = await cluster.nodeFor(slots[0]!)
    const [source, target] = owner === from ? [from, to] : [to, from]
    const taken = new Map<string, number>(keys.map((key) => [key, 0]))
    const errors: { code: string; transient: boolean }[] = []
    const checksOf = (key: string): Check[] => [on(key, '100000/400d'), on(key, '90000/300d')]
    let isOver = false
    const load = Array.from({ length: 4 }, async (_, worker) => {
      for (let i = worker; !isOver; i++) {
        const key = keys[i % keys.length]!
        // One count and two counts by turns: only a call with two keys can find one of them moved and the other not.
        const checks = i % 3 === 0 ? checksOf(key) : checksOf(key).slice(0, 1)
        await Promise.resolve(store.take(checks)).then(
          () => taken.set(key, taken.get(key)! + 1),
          async (error: unknown) => void errors.push(await failure(Promise.reject(error))),
        )
      }
    })
    await cluster.moveSlots(slots, source, target, { batch: 1 })
    isOver = true
    await Promise.all(load)
    for (const { code, transient } of errors) {
      expect(['store-busy', 'store-unreachable']).toContain(code)
      expect(transient).toBe(true)
    }
    // What was answered with an error was not executed: MOVED, ASK and TRYAGAIN come instead of an execution.
    const remaining = await Promise.all(keys.map((key) => left(store, checksOf(key)[0]!)))
    expect(remaining.flat()).toEqual(keys.map((key) => 100_000 - taken.get(key)!))
    expect([...taken.values()].reduce((a, b) => a + b)).toBeGreaterThan(keys.length)
    await cluster.moveSlots(slots, target, source)
    await close()
  }, 120_000)
})

describe('TRYAGAIN', () => {
  it('is an error that passes, and nothing was charged', async () => {
    const { host, port } = cluster.nodes[0]!
    const client = new Cluster([{ host, port }], {
      enableOfflineQueue: false,
      lazyConnect: true,
      maxRedirections: 3,
      retryDelayOnTryAgain: 1,
    })
    await client.connect()
    const store = patientStore(client, { prefix: 'try:' })
    const checks = [on('try', '10/400d'), on('try', '10/300d')]
    await takeOne(store, checks[0]!)
    const slot = slotOfKey('try')
    const from = await cluster.nodeFor(slot)
    const to = cluster.nodes.find((node) => node !== from)!
    const seen: unknown[] = []
    await cluster.moveSlot(slot, from, to, {
      between: async ({ moved }) => {
        // One of the two keys is there, the other is not and never was: which node should decide?
        if (moved === 0) seen.push(await failure(store.take(checks)))
      },
    })
    expect(seen).toEqual([{ code: 'store-busy', transient: true }])
    expect(await left(store, ...checks)).toEqual([9, 10])
    expect((await store.take(checks)).map(({ remaining }) => remaining)).toEqual([8, 9])
    await cluster.moveSlot(slot, to, from)
    client.disconnect()
  }, 60_000)
})

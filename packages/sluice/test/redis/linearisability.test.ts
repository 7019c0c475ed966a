// Many clients on the same counts of real servers, replies lost on the way: every history has an order that explains it.
import { Cluster, Redis } from 'ioredis'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startProxy } from '../../../../test/faults/fault-proxy.ts'
import { randomFrom } from '../../../../test/faults/random.ts'
import { lengthOf } from '../../../../test/length.ts'
import { startCluster } from '../../../../test/servers/redis-cluster.ts'
import { startSentinel } from '../../../../test/servers/redis-sentinel.ts'
import { startRedis } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { limit, type AlgorithmName } from '../../src/limit/limit.ts'
import { ioredisClusterOptions, ioredisOptions } from '../../src/redis/index.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import type { Check, Store } from '../../src/stores/store.ts'
import { isLinearisable, type Operation } from '../linearisability.ts'

vi.setConfig({ testTimeout: 170_000 })

const NOW = 1_800_000_000_000
const CLIENTS = 4
const PER_CLIENT = 6
const HISTORIES = lengthOf(60, 2000)
const ALGORITHMS: readonly AlgorithmName[] = [
  'token-bucket',
  'gcra',
  'fixed-window',
  'sliding-window',
]

/** Clients that stay with a server, and what goes wrong on the way to it. */
interface Place {
  readonly stores: readonly Store[]
  readonly fault: () => void
}

function storesOf(connect: () => Redis | Cluster): readonly Store[] {
  return Array.from({ length: CLIENTS }, () => {
    const client = connect()
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    // One instant for all, so that an answer depends on the order alone.
    return redisStore(client, {
      clock: () => NOW,
      timeout: 2000,
      holdRefusals: 0,
      onWarning: () => {},
    })
  })
}

const place = ({ host, port }: { host: string; port: number }) => ({ host, port })

const places: Record<string, () => Promise<Place>> = {
  'one server whose replies are lost': async () => {
    const server = await startRedis()
    const proxy = await startProxy(server, randomFrom(1))
    onTestFinished(async () => {
      await proxy.stop()
      await server.stop()
    })
    const stores = storesOf(() => new Redis(ioredisOptions(place(proxy))))
    return { stores, fault: () => void proxy.breakReplies('lose') }
  },
  'a primary behind sentinels': async () => {
    const group = await startSentinel()
    onTestFinished(() => group.stop())
    const sentinels = group.sentinels.map(place)
    const stores = storesOf(() => new Redis(ioredisOptions({ name: group.name, sentinels })))
    return { stores, fault: () => {} }
  },
  'a cluster': async () => {
    const cluster = await startCluster()
    onTestFinished(() => cluster.stop())
    const stores = storesOf(() => new Cluster(cluster.nodes.map(place), ioredisClusterOptions()))
    return { stores, fault: () => {} }
  },
}

/** Waits until a client has a connection again; the count it looks at is another one. */
async function answers(store: Store, check: Check): Promise<void> {
  await until('the store answers', 20_000, async () => store.peek([{ ...check, key: 'other' }]))
}

/** What every client asks of one count, all at once, and what came of it. */
async function historyOf(
  { stores, fault }: Place,
  check: Check,
  random: () => number,
): Promise<Operation[]> {
  const history: Operation[] = []
  const run = async (store: Store): Promise<void> => {
    for (let i = 0; i < PER_CLIENT; i++) {
      const kind = KINDS[Math.floor(random() * KINDS.length)]!
      const cost = 1 + Math.floor(random() * 2)
      if (random() < 0.03) fault()
      const began = performance.now()
      try {
        const one = { ...check, cost, ...(kind === 'refund' ? { takenAt: NOW } : {}) }
        const [verdict] = (await store[kind]([one])) ?? []
        const { allowed, remaining } = verdict ?? {}
        history.push({ kind, cost, began, ended: performance.now(), allowed, remaining })
      } catch {
        history.push({ kind, cost, began, ended: Infinity })
        await answers(store, check)
      }
    }
  }
  await Promise.all(stores.map(run))
  return history
}

const KINDS = ['take', 'take', 'take', 'take', 'peek', 'peek', 'refund', 'reset'] as const

describe.each(Object.entries(places))('%s', (_, open) => {
  it('answers as if one operation came after the other', async () => {
    const place = await open()
    const random = randomFrom(7)
    const wrong: unknown[] = []
    let unanswered = 0
    for (let i = 0; i < HISTORIES; i++) {
      const made = limit({ quota: 5, window: '1d', algorithm: ALGORITHMS[i % ALGORITHMS.length]! })
      const check = { space: `linear ${made.algorithm}`, key: `key ${i}`, limit: made, cost: 1 }
      await Promise.all(place.stores.map((store) => answers(store, check)))
      const history = await historyOf(place, check, random)
      unanswered += history.filter(({ ended }) => ended === Infinity).length
      if (!isLinearisable(history, made, NOW)) wrong.push({ algorithm: made.algorithm, history })
    }
    expect(wrong.slice(0, 1)).toEqual([])
    // A history of lost answers would prove nothing.
    expect(unanswered).toBeLessThan((HISTORIES * CLIENTS * PER_CLIENT) / 2)
  })
})

// Many clients on the same counts of real servers, replies lost on the way, primaries that change: every history has an
// order that explains it.
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { randomFrom } from '../../../../test/faults/random.ts'
import { lengthOf } from '../../../../test/length.ts'
import { until } from '../../../../test/servers/until.ts'
import { limit, type AlgorithmName } from '../../src/limit/limit.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import { slotOf } from '../../src/redis/slot.ts'
import type { Check, Store } from '../../src/stores/store.ts'
import { isLinearisable, type Operation } from '../linearisability.ts'
import { type HistoryPlace, historyPlaces } from './history-places.ts'

vi.setConfig({ testTimeout: lengthOf(900_000, 7_200_000) })

const NOW = 1_800_000_000_000
const CLIENTS = 4
const PER_CLIENT = 6
const HISTORIES = lengthOf(40, 2000)
/** Of so many histories, one sees another primary. */
const PER_CHANGE = lengthOf(20, 100)
const ALGORITHMS: readonly AlgorithmName[] = [
  'token-bucket',
  'gcra',
  'fixed-window',
  'sliding-window',
]

function storesOf({ connect }: HistoryPlace): readonly Store[] {
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

/** Waits until a client has a connection again; the count it looks at is another one. */
async function answers(store: Store, check: Check): Promise<void> {
  await until('the store answers', 20_000, async () => store.peek([{ ...check, key: 'other' }]))
}

/** What every client asks of one count, all at once, and what came of it. */
async function historyOf(
  stores: readonly Store[],
  check: Check,
  random: () => number,
  fault: () => void,
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

/** The history as lines, in the order in which the calls began. */
function storyOf(algorithm: string, history: readonly Operation[]): readonly string[] {
  const start = Math.min(...history.map(({ began }) => began))
  const lines = history
    .toSorted((a, b) => a.began - b.began)
    .map(({ kind, cost, began, ended, allowed, remaining }) => {
      const times = [began, ended].map((at) => (at - start).toFixed(2)).join(' to ')
      return `${times}: ${kind} ${cost}, allowed ${allowed}, remaining ${remaining}`
    })
  return [algorithm, ...lines]
}

const KINDS = ['take', 'take', 'take', 'take', 'peek', 'peek', 'refund', 'reset'] as const

describe.each(Object.entries(historyPlaces))('%s', (_, open) => {
  it('answers as if one operation came after the other', async () => {
    const place = await open()
    const stores = storesOf(place)
    const random = randomFrom(7)
    const wrong: unknown[] = []
    let unanswered = 0
    for (let i = 0; i < HISTORIES; i++) {
      const made = limit({ quota: 5, window: '1d', algorithm: ALGORITHMS[i % ALGORITHMS.length]! })
      const check = { space: `linear ${made.algorithm}`, key: `key ${i}`, limit: made, cost: 1 }
      await Promise.all(stores.map((store) => answers(store, check)))
      const change =
        i % PER_CHANGE === PER_CHANGE - 1
          ? place.changePrimary?.(slotOf(`{${check.key}}`))
          : undefined
      const history = await historyOf(stores, check, random, place.loseReplies)
      await change
      unanswered += history.filter(({ ended }) => ended === Infinity).length
      if (!isLinearisable(history, made, NOW)) wrong.push(storyOf(made.algorithm, history))
    }
    expect(wrong.slice(0, 1)).toEqual([])
    // A history of lost answers would prove nothing.
    expect(unanswered).toBeLessThan((HISTORIES * CLIENTS * PER_CLIENT) / 2)
  })
})

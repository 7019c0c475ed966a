// Proves the cluster that other tests start: whole, resharded under traffic, and failing over.
import { Cluster } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import type { ClusterNode } from './cluster-node.ts'
import { type ClusterOptions, startCluster } from './redis-cluster.ts'
import { slotCount, slotOf } from './slots.ts'
import { until } from './until.ts'

const halfMinute = 30_000
/** A slot of each of three masters. */
const slotOfEach = [0, slotCount / 2, slotCount - 1]

async function cluster(options?: ClusterOptions) {
  const started = await startCluster(options)
  onTestFinished(started.stop)
  return started
}

/** How often a node has sent a client elsewhere. */
async function redirections(node: ClusterNode, kind: 'ASK' | 'MOVED') {
  const stats = await node.cli('INFO', 'errorstats')
  return Number(new RegExp(`errorstat_${kind}:count=(\\d+)`).exec(stats)?.[1] ?? 0)
}

/** Increments the keys one after the other until told to stop, and then gives how often each was. */
function traffic(client: Cluster, keys: string[]) {
  const counts = new Map(keys.map((key) => [key, 0]))
  let running = true
  const done = (async () => {
    while (running) {
      for (const key of keys) counts.set(key, await client.incr(key))
    }
    return counts
  })()
  return {
    total: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    stop() {
      running = false
      return done
    },
  }
}

test('three masters serve all slots', { timeout: halfMinute }, async () => {
  const { nodes, nodeFor } = await cluster()
  expect(nodes).toHaveLength(3)
  for (const node of nodes) {
    const info = await node.cli('CLUSTER', 'INFO')
    expect(info).toContain('cluster_state:ok')
    expect(info).toContain(`cluster_slots_ok:${slotCount}`)
  }
  expect(await Promise.all(slotOfEach.map(nodeFor))).toEqual(nodes)

  const keys = [
    '',
    'a',
    '123456789',
    'ключ',
    '{a}b',
    'x{a}',
    'x{}y',
    'x{{a}}y',
    'x{a}{b}',
    '}{a',
    'x{a',
  ]
  for (const key of keys) {
    expect([key, slotOf(key)]).toEqual([key, await nodes[0]?.cli('CLUSTER', 'KEYSLOT', key)])
  }
})

test('a slot moves under traffic and no count is lost', { timeout: halfMinute }, async () => {
  const { nodes, nodeFor, moveSlot, moveSlots } = await cluster()
  const keys = Array.from({ length: 40 }, (_, index) => `{tenant}:${index}`)
  const slot = slotOf('{tenant}')
  const from = await nodeFor(slot)
  const to = nodes.find((node) => node !== from)!
  const client = new Cluster(nodes.map(({ host, port }) => ({ host, port })))
  onTestFinished(() => client.disconnect())
  const load = traffic(client, keys)
  const moreTraffic = async () => {
    const target = load.total() + 2 * keys.length
    await until('the traffic goes on', 5000, async () => load.total() >= target)
  }

  await moreTraffic()
  expect(await redirections(from, 'ASK')).toBe(0)
  const steps: number[] = []
  const moved = await moveSlot(slot, from, to, {
    batch: 15,
    async between(progress) {
      steps.push(progress.moved)
      await moreTraffic()
      await expect(from.cli('GET', '{tenant}:new')).rejects.toThrow(
        `ASK ${slot} 127.0.0.1:${to.port}`,
      )
    },
  })
  await moreTraffic()
  const counts = await load.stop()

  expect(moved).toBe(keys.length)
  expect(steps).toEqual([0, 15, 30, 40])
  // More than the test itself has caused: the client was sent along, too.
  expect(await redirections(from, 'ASK')).toBeGreaterThan(steps.length)
  expect(await redirections(from, 'MOVED')).toBeGreaterThan(0)
  expect(await nodeFor(slot)).toBe(to)
  await expect(from.cli('GET', keys[0]!)).rejects.toThrow(`MOVED ${slot} 127.0.0.1:${to.port}`)
  const stored = await Promise.all(keys.map((key) => to.cli('GET', key)))
  expect(stored.map(Number)).toEqual([...counts.values()])

  // Back again, together with a slot that has no keys.
  const empty = slotOfEach[nodes.indexOf(to)]!
  expect(await moveSlots([slot, empty], to, from)).toBe(keys.length)
  expect([await nodeFor(slot), await nodeFor(empty)]).toEqual([from, from])
})

test('a replica takes over when its master dies', { timeout: halfMinute }, async () => {
  const { nodes, nodeFor } = await cluster({ replicas: 1, nodeTimeout: 1000 })
  expect(nodes).toHaveLength(6)
  const [master, , , replica] = nodes
  expect((await replica?.cli<string[]>('ROLE'))?.[0]).toBe('slave')
  expect(await nodeFor(0)).toBe(master)
  master?.kill('SIGKILL')
  expect(await until('the replica owns the slot', 15_000, () => nodeFor(0))).toBe(replica)
})

// Clusters and primaries that change while they are used.
import { slotOf } from '../../servers/slots.ts'
import { until } from '../../servers/until.ts'
import { configure } from '../configure.ts'
import type { Held } from '../figures.ts'
import { DEGRADED, hotKey, onceKey, type Orders, type PodRecord } from '../orders.ts'
import { onCluster, onSentinel } from '../places.ts'
import { QUOTA, type Scenario, TIMEOUT } from '../scenario.ts'

const MASTERS = 3
const SLOTS = 16_384

/** The master that has a slot at the start: they have them in even parts. */
const masterOf = (slot: number): number => Math.floor((slot * MASTERS) / SLOTS)

/** Requests for keys of the nodes that are well which the fallback answered. */
function othersDegraded({ key, answer }: PodRecord, _: unknown, { name }: Orders): Held[] {
  const lost = masterOf(slotOf(hotKey))
  const others = [...key].filter((number, i) => {
    if (number < 0 || (answer[i]! & DEGRADED) === 0) return false
    return masterOf(slotOf(onceKey(name, number))) !== lost
  })
  return [{ what: 'for keys of other nodes', value: others.length, most: OTHERS }]
}

/** A run of slots that begins on one node and ends on the next is left alone as a whole, and some answers come late. */
const OTHERS = 90

export const topology: readonly Scenario[] = [
  {
    name: 'live resharding',
    length: { test: 40, full: 201 },
    open: onCluster({ masters: 3 }, async (cluster, { begin, back, length }) => {
      const hot = slotOf(hotKey)
      const from = await cluster.nodeFor(hot)
      const to = cluster.nodes.find((node) => node !== from)!
      begin()
      // The hot key's slot first, then its neighbours as far as they belong to the same node.
      const slots = [hot]
      for (let slot = hot - 1; slots.length < length && slot >= 0; slot--) slots.push(slot)
      const owned = await Promise.all(
        slots.map(async (slot) => (await cluster.nodeFor(slot)) === from),
      )
      await cluster.moveSlots(
        slots.filter((_, i) => owned[i]),
        from,
        to,
      )
      back()
    }),
    bounds: { fallback: 0, median: TIMEOUT },
  },
  {
    name: 'cluster: a master lost',
    length: { test: 0, full: 0 },
    open: onCluster(
      { masters: 3, replicas: 1, args: ['--cluster-require-full-coverage', 'no'] },
      async (cluster, { begin, back }) => {
        const master = await cluster.nodeFor(slotOf(hotKey))
        begin()
        master.kill('SIGKILL')
        await until('a replica has taken over', 20_000, async () => {
          const owner = await cluster.nodeFor(slotOf(hotKey))
          const info = owner === master ? '' : await owner.cli('CLUSTER', 'INFO')
          return info.includes('cluster_state:ok')
        })
        back()
      },
      othersDegraded,
    ),
    after: 2000,
    bounds: {},
  },
  {
    name: 'Sentinel failover with lost writes',
    length: { test: 0, full: 0 },
    // The replica is cut off before the hot key is spent: all of that is lost.
    isCold: true,
    open: onSentinel(async (group, { begin, back, pods, last }) => {
      const [primary, replica] = group.servers
      await configure(replica!, 'masteruser', 'nobody')
      await configure(replica!, 'masterauth', 'nothing')
      await primary!.cli('CLIENT', 'KILL', 'TYPE', 'replica')
      await until('the replica is cut off', 5000, async () =>
        (await replica!.cli('INFO', 'replication')).includes('master_link_status:down'),
      )
      await Promise.all(pods.map((pod) => pod.warm()))
      for (const pod of pods) pod.load()
      await Promise.all(pods.map(({ spent }) => spent))
      await last(300)
      begin()
      await group.failover()
      back()
    }),
    after: 2000,
    // node-redis itself looks for a primary once a second only.
    bounds: { again: QUOTA, recovery: 2500 },
  },
]

// Clusters and primaries that change while they are used.
import { slotOf } from '../../servers/slots.ts'
import { until } from '../../servers/until.ts'
import { DEGRADED, hotKey, onceKey } from '../orders.ts'
import { behindName, onCluster, onSentinel } from '../places.ts'
import { type Place, QUOTA, type Scenario, TIMEOUT } from '../scenario.ts'
import { Stalls, stallsOf, watchStalls } from '../stalls.ts'

const MASTERS = 3
const SLOTS = 16_384

/** The master that has a slot at the start: they have them in even parts. */
const masterOf = (slot: number): number => Math.floor((slot * MASTERS) / SLOTS)

/** Slots that share a breaker. A run of them that begins on one node and ends on the next is left alone as a whole. */
const RUN = 1024

/** Whether the lost master has none of the slots that share a breaker with this one. */
function isApart(slot: number, lost: number): boolean {
  const first = slot - (slot % RUN)
  return masterOf(first) !== lost && masterOf(first + RUN - 1) !== lost
}

/** Milliseconds within which the breakers close again after a node was slow. */
const CLOSED_AGAIN = 1000

/**
 * Requests for keys of the nodes that are well which the fallback answered, although these nodes answered the lab at
 * once and the pod itself was awake. All others are late answers of a busy machine.
 */
function othersDegraded(ofNodes: Stalls): NonNullable<Place['measure']> {
  return ({ at, key, answer, still }, _, { name }) => {
    const lost = masterOf(slotOf(hotKey))
    const stalls = new Stalls([...ofNodes.spans, ...stallsOf(still).spans])
    const others = [...key].filter((number, i) => {
      if (number < 0 || (answer[i]! & DEGRADED) === 0) return false
      if (!isApart(slotOf(onceKey(name, number)), lost)) return false
      return !stalls.overlap(at[i]! - CLOSED_AGAIN, at[i]! + TIMEOUT)
    })
    return [{ what: 'for keys of other nodes', value: others.length, most: 0 }]
  }
}

const loseMaster = onCluster(
  { masters: 3, replicas: 1, args: ['--cluster-require-full-coverage', 'no'] },
  async (cluster, { begin, back }) => {
    const master = await cluster.nodeFor(slotOf(hotKey))
    await cluster.setNodeTimeout(1500)
    begin()
    master.kill('SIGKILL')
    await until('a replica has taken over', 20_000, async () => {
      const owner = await cluster.nodeFor(slotOf(hotKey))
      const info = owner === master ? '' : await owner.cli('CLUSTER', 'INFO')
      return info.includes('cluster_state:ok')
    })
    back()
  },
)

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
    open: async (seed) => {
      const place = await loseMaster(seed)
      const watch = watchStalls(place.target.kind === 'cluster' ? place.target.nodes : [])
      return {
        ...place,
        measure: othersDegraded(watch.stalls),
        async stop() {
          watch.stop()
          await place.stop()
        },
      }
    },
    after: 2000,
    bounds: {},
  },
  {
    // As a managed Redis does it: the client's connection stays with the server that was the primary.
    name: 'failover behind a name, the old primary answers READONLY',
    length: { test: 0, full: 0 },
    open: behindName(async ({ primary, replica, move }, { begin, back }) => {
      begin()
      // What the old primary granted after the replica has left it would be granted again.
      await primary.cli('CLIENT', 'PAUSE', '10000', 'WRITE')
      await until('the replica has all writes', 5000, async () => {
        const [, offset] = await primary.cli<string[]>('ROLE')
        return (await replica.cli<string[]>('ROLE'))[4] === offset
      })
      await replica.cli('REPLICAOF', 'NO', 'ONE')
      await primary.cli('REPLICAOF', replica.host, `${replica.port}`)
      await primary.cli('CLIENT', 'UNPAUSE')
      move()
      back()
    }),
    bounds: {},
  },
  {
    name: 'Sentinel failover with lost writes',
    length: { test: 0, full: 0 },
    // The replica is cut off before the hot key is spent: all of that is lost.
    isCold: true,
    open: onSentinel(async (group, { begin, back, pods, last }) => {
      await group.cutOff()
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

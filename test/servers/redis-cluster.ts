// Starts a real Redis or Valkey cluster on loopback for a test, and reshards it.
import { type ClusterNode, mastersOf, ownerOf } from './cluster-node.ts'
import { formCluster } from './form-cluster.ts'
import type { RedisServer } from './redis-server.ts'
import { type MoveOptions, moveSlot } from './reshard.ts'
import { startAll } from './start-all.ts'

export interface ClusterOptions {
  readonly masters?: number
  /** Replicas of each master. */
  readonly replicas?: number
  /** How long (in ms) a node may be silent before the others think that it failed. Default: longer than any test. */
  readonly nodeTimeout?: number
  readonly binary?: string
  /** Further arguments of every node. */
  readonly args?: string[]
}

export interface RedisCluster {
  /** The masters in the order of their slots, then the replicas: first one of each master, then the second ones. */
  readonly nodes: readonly ClusterNode[]
  /** Lets nodes be silent for so long (in ms) before the others think that they failed. */
  readonly setNodeTimeout: (millis: number) => Promise<void>
  /** The present owner of a slot, which is the node that says so of itself. */
  readonly nodeFor: (slot: number) => Promise<ClusterNode>
  /** Moves a slot with its keys. Gives the number of keys moved. */
  readonly moveSlot: (
    slot: number,
    from: ClusterNode,
    to: ClusterNode,
    options?: MoveOptions,
  ) => Promise<number>
  /** Moves slots one after the other. Gives the number of keys moved. */
  readonly moveSlots: (
    slots: Iterable<number>,
    from: ClusterNode,
    to: ClusterNode,
    options?: MoveOptions,
  ) => Promise<number>
  readonly stop: () => Promise<void>
}

/** Milliseconds of silence that a forming cluster allows: it also waits for so long before it takes writes. */
const FORMING = 1500
/** A busy machine may silence a healthy node; only a test that wants a node to be lost says so. */
const CALM = 60_000

/** Starts a cluster and resolves when all nodes agree that it is whole. A master takes its time: about 2 s. */
export async function startCluster(options: ClusterOptions = {}): Promise<RedisCluster> {
  const { masters = 3, replicas = 0, nodeTimeout = CALM } = options
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', `${FORMING}`]
  const server = { ...options, args: [...args, ...(options.args ?? [])] }
  const servers = await startAll(Array.from({ length: masters * (1 + replicas) }, () => server))
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()))
  }
  try {
    const nodes = await Promise.all(servers.map(withId))
    await formCluster(nodes, masters)
    const setNodeTimeout = async (millis: number) => {
      const command = ['CONFIG', 'SET', 'cluster-node-timeout', `${millis}`]
      await Promise.all(nodes.map((node) => node.cli(...command)))
    }
    await setNodeTimeout(nodeTimeout)
    return {
      nodes,
      setNodeTimeout,
      nodeFor: (slot) => ownerOf(slot, nodes),
      moveSlot: async (slot, from, to, how) =>
        moveSlot(await mastersOf(nodes), slot, from, to, how),
      async moveSlots(slots, from, to, how) {
        const present = await mastersOf(nodes)
        let moved = 0
        for (const slot of slots) moved += await moveSlot(present, slot, from, to, how)
        return moved
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function withId(server: RedisServer): Promise<ClusterNode> {
  return Object.assign(server, { id: await server.cli('CLUSTER', 'MYID') })
}

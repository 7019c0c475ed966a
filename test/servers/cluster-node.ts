// Asks the nodes of a cluster what they are.
import type { RedisServer } from './redis-server.ts'

export interface ClusterNode extends RedisServer {
  /** The node's own id in the cluster. */
  readonly id: string
}

type SlotRange = [first: number, last: number, master: [host: string, port: number, id: string]]

/** The node that says of itself that it owns the slot. */
export function ownerOf(slot: number, nodes: readonly ClusterNode[]): Promise<ClusterNode> {
  return Promise.any(
    nodes.map(async (node) => {
      const ranges = await node.cli<SlotRange[]>('CLUSTER', 'SLOTS')
      const range = ranges.find(([first, last]) => first <= slot && slot <= last)
      if (range?.[2][2] !== node.id) throw new Error(`${node.url} does not own slot ${slot}`)
      return node
    }),
  )
}

/** The nodes that are masters at present; those that do not answer are left out. */
export async function mastersOf(nodes: readonly ClusterNode[]): Promise<ClusterNode[]> {
  const roles = await Promise.allSettled(nodes.map((node) => node.cli<string[]>('ROLE')))
  return nodes.filter((_, index) => {
    const role = roles[index]
    return role?.status === 'fulfilled' && role.value[0] === 'master'
  })
}

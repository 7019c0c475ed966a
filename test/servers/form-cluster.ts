// Makes a cluster out of nodes that do not know each other yet.
import type { ClusterNode } from './cluster-node.ts'
import { slotCount } from './slots.ts'
import { until } from './until.ts'

const formTimeout = 20_000

/** Gives each master its share of the slots, and resolves when all nodes agree that the cluster is whole. */
export async function formCluster(nodes: ClusterNode[], masterCount: number) {
  const masters = nodes.slice(0, masterCount)
  await Promise.all(
    nodes.map(async (node, index) => {
      // Different epochs, or the nodes would first have to settle a conflict.
      await node.cli('CLUSTER', 'SET-CONFIG-EPOCH', `${index + 1}`)
      for (const other of nodes.slice(0, index)) {
        await node.cli('CLUSTER', 'MEET', other.host, `${other.port}`)
      }
    }),
  )
  await Promise.all(
    masters.map((node, index) => {
      const first = Math.ceil((slotCount * index) / masterCount)
      const end = Math.ceil((slotCount * (index + 1)) / masterCount)
      const slots = Array.from({ length: end - first }, (_, offset) => `${first + offset}`)
      return node.cli('CLUSTER', 'ADDSLOTS', ...slots)
    }),
  )
  await Promise.all(
    nodes.slice(masterCount).map(async (replica, index) => {
      const master = masters[index % masterCount]!
      await until('the replica knows its master', formTimeout, () =>
        replica.cli('CLUSTER', 'REPLICATE', master.id),
      )
    }),
  )
  await Promise.all(
    nodes.map((node) =>
      until('the cluster is whole', formTimeout, () => isWhole(node, nodes, masterCount)),
    ),
  )
}

/** Whether a node takes commands, sees every slot served and all nodes in their roles. */
async function isWhole(node: ClusterNode, nodes: ClusterNode[], masterCount: number) {
  const info = await node.cli('CLUSTER', 'INFO')
  const known = await node.cli('CLUSTER', 'NODES')
  const replicas = known.match(/ (myself,)?slave .* connected/g)?.length ?? 0
  const behind = (await node.cli('INFO', 'replication')).includes('master_link_status:down')
  return (
    info.includes('cluster_state:ok') &&
    info.includes(`cluster_slots_ok:${slotCount}`) &&
    info.includes(`cluster_known_nodes:${nodes.length}`) &&
    replicas === nodes.length - masterCount &&
    !behind
  )
}

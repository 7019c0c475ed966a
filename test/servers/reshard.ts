// Moves hash slots between the nodes of a running cluster, as an operator would: in steps, under traffic.
import type { ClusterNode } from './cluster-node.ts'

export interface MoveOptions {
  /** How many keys are moved between two calls of `between`. */
  readonly batch?: number
  /**
   * Called when the slot has begun to move, before any key has, and then after each batch. Until it resolves the slot is in
   * between: the old owner answers for the keys that it still has and sends clients away with ASK for all others.
   */
  readonly between?: (progress: { slot: number; moved: number }) => Promise<void> | void
}

/** Moves one slot and its keys, and resolves when all masters know the new owner. Gives the number of keys moved. */
export async function moveSlot(
  masters: readonly ClusterNode[],
  slot: number,
  from: ClusterNode,
  to: ClusterNode,
  { batch = 10, between = () => {} }: MoveOptions = {},
): Promise<number> {
  const setSlot = (node: ClusterNode, ...state: string[]) =>
    node.cli('CLUSTER', 'SETSLOT', `${slot}`, ...state)

  // In this order: the old owner may send clients to the new one only when that one accepts them.
  await setSlot(to, 'IMPORTING', from.id)
  await setSlot(from, 'MIGRATING', to.id)
  let moved = 0
  for (;;) {
    await between({ slot, moved })
    const keys = await from.cli<string[]>('CLUSTER', 'GETKEYSINSLOT', `${slot}`, `${batch}`)
    if (keys.length === 0) break
    await from.cli('MIGRATE', to.host, `${to.port}`, '', '0', '5000', 'KEYS', ...keys)
    moved += keys.length
  }
  // The new owner first: should the old one give up the slot before, nobody would own it for a moment.
  const others = masters.filter((node) => node !== from && node !== to)
  for (const node of [to, from, ...others]) await setSlot(node, 'NODE', to.id)
  return moved
}

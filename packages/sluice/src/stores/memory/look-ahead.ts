// Reads the places of several keys together, before they are looked for one after the other.
import type { Check } from '../store.ts'
import type { Table } from './table.ts'

/** So many keys fit into the processor's caches, more or less. */
const CACHED = 8192

/** Takes what was read, so that the compiler leaves no reading out. */
const read = new Int32Array(1)

/**
 * In a large store, to find a key is to wait for memory twice: for the index, then for the record. Where the same is read of
 * all keys in turn, the processor waits for all of them at once.
 */
export function lookAhead(tables: readonly Table[], checks: readonly Check[]): void {
  if (checks.length === 0 || tables[0]!.room.keys < CACHED) return
  let sum = 0
  for (let i = 0; i < checks.length; i++) tables[i]!.slots.read(checks[i]!.key)
  for (let i = 0; i < checks.length; i++) sum ^= tables[i]!.slots.touchIndex()
  for (let i = 0; i < checks.length; i++) sum ^= tables[i]!.slots.touchRecord()
  read[0] = sum
}

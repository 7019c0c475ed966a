// The counts of all stand-ins for one store: they outlive a limiter that is replaced, as the store's own do.
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Store, SyncStore } from '../stores/store.ts'
import type { Clock } from '../time/clock.ts'

/** Keys that are counted at most: about 10 MB. */
const MOST_KEYS = 100_000

interface Shared {
  /** Made when somebody first counts. */
  counts: SyncStore | undefined
  users: number
}

const byStore = new WeakMap<Store, Shared>()

/**
 * Takes part in the counts that stand in for a store. Limiters on one store share them, so that a policy that
 * is loaded again grants no second share, as long as the new limiter is made before the old one is closed.
 */
export function joinCounts(store: Store): void {
  const shared = byStore.get(store)
  if (shared === undefined) byStore.set(store, { counts: undefined, users: 1 })
  else shared.users += 1
}

/** The counts that stand in for a store. */
export function localCounts(store: Store, clock: Clock | undefined): SyncStore {
  let shared = byStore.get(store)
  // Somebody who asked before the end is answered after it.
  if (shared === undefined) byStore.set(store, (shared = { counts: undefined, users: 0 }))
  shared.counts ??= memoryStore({ maxKeys: MOST_KEYS, ...(clock && { clock }) })
  return shared.counts
}

/** Lets go of the counts; the last one forgets them. */
export function leaveCounts(store: Store): void {
  const shared = byStore.get(store)
  if (shared === undefined || --shared.users > 0) return
  byStore.delete(store)
  shared.counts?.close()
}

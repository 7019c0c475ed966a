// Which part of a store a request of several rules belongs to.
import type { Check, Store } from '../stores/store.ts'

/** More than any store has; pairs of parts are numbered from here on. */
const MOST_PARTS = 2 ** 20

/**
 * The part of the store that keeps the counts of a request; 0 when there are none. Where its first and its last check
 * are in two parts, the pair is a part by itself: either may be the one that all requests share.
 */
export function partOfAll(store: Store, checks: readonly Check[]): number {
  const [first] = checks
  if (store.shardOf === undefined || first === undefined) return 0
  const one = store.shardOf(first)
  const other = checks.length === 1 ? one : store.shardOf(checks.at(-1)!)
  return one === other ? one : (other + 1) * MOST_PARTS + one
}

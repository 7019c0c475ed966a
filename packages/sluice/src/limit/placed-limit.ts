// A limit and the place of its counts, as stores and compiled rules know it.
import type { Limit } from './limit.ts'

/** A limit with the space its counts live in. */
export interface PlacedLimit {
  readonly limit: Limit
  readonly space: string
  /** The smallest quota above 0 of the rule's limits in this space; undefined when it is the limit's own. */
  readonly slowestQuota: number | undefined
}

/** A pool used when the limit of a rule has no room, and where it counts. */
export interface PlacedPool {
  readonly name: string
  readonly space: string
  readonly limit: Limit
}

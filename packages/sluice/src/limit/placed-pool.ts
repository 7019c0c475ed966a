// A pool behind the limit of a rule, as stores and compiled rules know it.
import type { Limit } from './limit.ts'

/** A pool behind the limit of a rule, and where it counts. */
export interface PlacedPool {
  readonly name: string
  readonly space: string
  readonly limit: Limit
}

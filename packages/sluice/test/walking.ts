// Walks a count along a random path and shows every step to an observer.
import fc from 'fast-check'
import type { LazyVerdict } from '../src/limit/take.ts'
import type { AlgorithmName, Limit } from '../src/limit/limit.ts'
import { Count } from './count.ts'
import { limits, runs, starts, steps, Walk, type Concrete, type Kinds, type Step } from './walks.ts'

/** One answer on the way. */
export interface Seen {
  readonly limit: Limit
  /** The count before the step; a branch, free to be used. */
  readonly before: Count
  /** The count as the step left it, whether it was worth keeping or not; a branch as well. */
  readonly after: Count
  readonly step: Concrete
  readonly taken: LazyVerdict
  /** The step as it was drawn, for more random numbers. */
  readonly drawn: Step
}

/** What to walk. */
export interface Route extends Kinds {
  readonly runs: number
  readonly length?: number
  readonly limits?: fc.Arbitrary<Limit>
}

/** Walks random paths under random limits; `observer` is made anew for each path and sees its answers. */
export function walking(
  algorithm: AlgorithmName,
  route: Route,
  observer: (limit: Limit) => (seen: Seen) => void,
): void {
  const { length = 60, limits: drawnLimits = limits(algorithm) } = route
  fc.assert(
    fc.property(drawnLimits, starts, steps(length, route), (limit, start, path) => {
      const see = observer(limit)
      const count = new Count(limit)
      const walk = new Walk(limit, start)
      for (const drawn of path) {
        const step = walk.next(drawn)
        if (step.do === 'refund') {
          count.refund(step.cost, step.at, step.takenAt)
          continue
        }
        const before = count.branch()
        const taken = count[step.do](step.cost, step.at)
        walk.told(taken, step)
        see({ limit, before, after: new Count(limit, taken.next), step, taken, drawn })
      }
    }),
    runs(route.runs),
  )
}

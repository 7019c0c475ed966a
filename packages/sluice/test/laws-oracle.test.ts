// Law: the library agrees with the definitions, in every field of every verdict, on random walks.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../test/length.ts'
import { Count } from './count.ts'
import { Oracle } from './oracle.ts'
import { ALGORITHMS, limits, runs, starts, steps, Walk } from './walks.ts'

const LENGTH = 100
const RUNS = 450
/** Steps of one algorithm in a run with the default seed. */
const STEPS = lengthOf(4000, 20_000)

describe.each(ALGORITHMS)('%s', (algorithm) => {
  it('agrees with the definitions in every field', () => {
    let walked = 0
    fc.assert(
      fc.property(
        limits(algorithm),
        starts,
        steps(LENGTH, { refund: true, back: true }),
        (limit, start, path) => {
          const count = new Count(limit)
          const oracle = new Oracle(limit)
          const walk = new Walk(limit, start)
          for (const step of path) {
            const concrete = walk.next(step)
            const { at, cost, takenAt } = concrete
            walked += 1
            if (concrete.do === 'refund') {
              count.refund(cost, at, takenAt)
              oracle.refund(cost, at, takenAt)
              continue
            }
            const got = count[concrete.do](cost, at).toJSON()
            expect(got).toEqual(oracle[concrete.do](cost, at))
            walk.told(got, concrete)
          }
        },
      ),
      runs(RUNS),
    )
    expect(walked).toBeGreaterThanOrEqual(process.env['FC_RUNS'] === undefined ? STEPS : 1)
  }, 60_000)
})

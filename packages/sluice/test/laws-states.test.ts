// Law: states are values. None is ever changed, and three of the algorithms are one arithmetic.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { State } from '../src/algorithms/algorithm.ts'
import { limit } from '../src/limit/limit.ts'
import type { Verdict } from '../src/limit/verdict.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import { fakeClock } from '../src/testing/fake-clock.ts'
import { Count } from './count.ts'
import { ALGORITHMS, limits, runs, starts, steps, Walk } from './walks.ts'

/** A state and a copy of it that shares nothing. */
interface Kept {
  readonly state: State
  readonly copy: State
  readonly at: number
}

describe.each(ALGORITHMS)('%s', (algorithm) => {
  it('never changes a state: old ones answer as they did, and may be gone on from', () => {
    fc.assert(
      fc.property(
        limits(algorithm),
        starts,
        steps(60, { refund: true, back: true }),
        (limit, start, path) => {
          const count = new Count(limit)
          const walk = new Walk(limit, start)
          const kept: Kept[] = []
          for (const [i, drawn] of path.entries()) {
            const step = walk.next(drawn)
            if (step.do === 'refund') count.refund(step.cost, step.at, step.takenAt)
            else walk.told(count[step.do](step.cost, step.at), step)
            const { state } = count
            if (state === undefined) continue
            kept.push({ state: Object.freeze(state), copy: structuredClone(state), at: step.at })
            // Now and then go on from an old state instead: its other future must stay as it was.
            if (i % 5 === 4) count.state = kept[Math.floor(drawn.part * kept.length)]!.state
          }
          for (const { state, copy, at } of kept) {
            const [old, new_] = [new Count(limit, state), new Count(limit, copy)]
            for (const [cost, later] of [
              [1, 0],
              [2, 1],
              [1, limit.window],
            ] as const) {
              const asked = old.take(cost, at + later).toJSON()
              expect(asked).toEqual(new_.take(cost, at + later).toJSON())
            }
          }
        },
      ),
      runs(150),
    )
  })
})

describe.each(ALGORITHMS)('%s in a store', (algorithm) => {
  it('never changes a verdict: it says later what it said at once', () => {
    fc.assert(
      fc.property(
        limits(algorithm),
        starts,
        steps(40, { refund: true, back: true }),
        (drawnLimit, start, path) => {
          const clock = fakeClock()
          const store = memoryStore({ clock })
          const walk = new Walk(drawnLimit, start)
          const told: [Verdict, string][] = []
          for (const drawn of path) {
            const step = walk.next(drawn)
            const { at, cost, takenAt } = step
            const countRefused = drawn.off === 0
            const check = { space: 's', key: 'k', limit: drawnLimit, cost, takenAt, countRefused }
            clock.set(at)
            if (step.do === 'refund') {
              store.refund([check])
              continue
            }
            // Some requests ask twice of one count, all or none.
            const checks = drawn.off > 0 ? [check, check] : [check]
            for (const verdict of store[step.do](checks))
              told.push([verdict, JSON.stringify(verdict)])
            walk.told(told.at(-1)![0], step)
          }
          store.close()
          for (const [verdict, once] of told) expect(JSON.stringify(verdict)).toBe(once)
        },
      ),
      runs(100),
    )
  })
})

describe('one arithmetic', () => {
  it('GCRA answers as the token bucket in every field; the leaky bucket in all but the delay', () => {
    fc.assert(
      fc.property(
        limits('token-bucket'),
        starts,
        steps(80, { refund: true, back: true }),
        (drawnLimit, start, path) => {
          const [tokens, gcra, leaky] = (['token-bucket', 'gcra', 'leaky-bucket'] as const).map(
            (algorithm) => new Count(limit({ ...drawnLimit, algorithm })),
          ) as [Count, Count, Count]
          const walk = new Walk(drawnLimit, start)
          for (const drawn of path) {
            const step = walk.next(drawn)
            const { at, cost, takenAt } = step
            if (step.do === 'refund') {
              for (const count of [tokens, gcra, leaky]) count.refund(cost, at, takenAt)
              continue
            }
            const verb = step.do
            const taken = tokens[verb](cost, at).toJSON()
            walk.told(taken, step)
            expect(gcra[verb](cost, at).toJSON()).toEqual(taken)
            expect({ ...leaky[verb](cost, at).toJSON(), delay: 0 }).toEqual(taken)
          }
        },
      ),
      runs(250),
    )
  })
})

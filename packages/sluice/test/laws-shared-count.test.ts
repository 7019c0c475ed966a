// Law: limits of different size on one count (tiers, overrides, a quota that changed) hand out nothing that another counted.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { State } from '../src/algorithms/algorithm.ts'
import { algorithmOf } from '../src/algorithms/table.ts'
import { limit, type AlgorithmName, type Limit } from '../src/limit/limit.ts'
import type { Millis } from '../src/time/clock.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import { fakeClock } from '../src/testing/fake-clock.ts'
import { Count } from './count.ts'
import { definitions } from './definitions.ts'
import { ALGORITHMS, limits, runs, starts, steps, Walk, type Concrete, type Step } from './walks.ts'

/** Two limits that share a window and so a count. A quota may be 0: an override that shuts. */
function pairs(algorithm: AlgorithmName): fc.Arbitrary<readonly [Limit, Limit]> {
  const { hasBurst } = algorithmOf({ algorithm })
  return fc
    .tuple(limits(algorithm), fc.integer({ min: 0, max: 99 }), fc.integer({ min: 1, max: 100 }))
    .map(([large, quotaPart, burstPart]) => {
      const quota = Math.floor((large.quota * quotaPart) / 100)
      const burst = Math.max(1, Math.floor((large.burst * burstPart) / 100))
      const small = { algorithm, window: large.window, quota }
      return [large, limit(!hasBurst || quota === 0 ? small : { ...small, burst })]
    })
}

/** Charges a refused cost, as far as it goes. */
function spend(count: Count, cost: number, now: Millis): void {
  const algorithm = algorithmOf(count.limit)
  const state = { ...(count.state ?? algorithm.fresh(count.limit, now)) }
  algorithm.take(count.limit, state, 0, now)
  algorithm.spend(count.limit, state, cost, now)
  count.state = state
}

/** Makes a step under one of the two limits; says by how much `remaining` under the other may rise. */
function go(count: Count, { do: done, cost, at, takenAt }: Concrete, drawn: Step): number {
  if (done === 'refund') {
    count.refund(cost, at, takenAt)
    return cost
  }
  const taken = count[done](cost, at)
  if (done === 'take' && !taken.allowed && drawn.off === 0) spend(count, cost, at)
  return 0
}

/** Walks one count, each step under one of two limits, and shows the other limit before and after. */
function sharing(
  algorithm: AlgorithmName,
  back: boolean,
  see: (seen: {
    readonly large: Limit
    readonly small: Limit
    readonly isSmall: boolean
    readonly before: State | undefined
    readonly after: State | undefined
    readonly at: Millis
    readonly given: number
  }) => void,
): void {
  fc.assert(
    fc.property(
      pairs(algorithm),
      starts,
      steps(60, { refund: true, back }),
      ([large, small], start, path) => {
        const walk = new Walk(large, start)
        let state: State | undefined
        for (const drawn of path) {
          const step = walk.next(drawn)
          const isSmall = drawn.part < 0.5
          const before = state
          const count = new Count(isSmall ? small : large, before)
          const given = go(count, step, drawn)
          state = count.state
          walk.told(new Count(isSmall ? small : large, state).peek(1, step.at), step)
          see({ large, small, isSmall, before, after: state, at: step.at, given })
        }
      },
    ),
    runs(200),
  )
}

describe.each(ALGORITHMS)('%s', (algorithm) => {
  it('what the smaller limit does returns nothing to the larger but what it hands back', () => {
    sharing(algorithm, true, ({ large, isSmall, before, after, at, given }) => {
      if (!isSmall) return
      const { remaining } = new Count(large, before).peek(0, at)
      expect(new Count(large, after).peek(0, at).remaining).toBeLessThanOrEqual(remaining + given)
    })
  })

  it('waits are kept under either limit: refused until then, allowed at it', () => {
    sharing(algorithm, false, ({ large, small, after, at }) => {
      for (const one of [large, small]) {
        const cost = Math.max(1, one.burst)
        const asked = new Count(one, after).peek(cost, at)
        expect(asked.remaining).toBeLessThanOrEqual(one.burst)
        if (asked.retryAfter === null || asked.retryAfter === 0) continue
        const then = at + asked.retryAfter
        expect(new Count(one, after).take(cost, then).allowed).toBe(true)
        expect(new Count(one, after).take(cost, then - 1).allowed).toBe(false)
      }
    })
  })

  it('a count that is over a limit opens for it as soon as one that is just full', () => {
    sharing(algorithm, false, ({ large, small, after, at }) => {
      if (small.quota === 0 || after === undefined) return
      const { retryAfter } = new Count(small, after).peek(small.burst, at)
      const held = Math.max(0, after.at - at)
      expect(retryAfter).toBeLessThanOrEqual(held + definitions[algorithm].emptyAfter(small))
      expect(after.used).toBeLessThanOrEqual(Math.max(sizeOf(large), sizeOf(small)))
    })
  })

  it('never grows beyond its larger limit, and is as good as new when it says so', () => {
    sharing(algorithm, false, ({ large, small, after, at }) => {
      if (small.quota === 0) return
      const { resetAfter } = new Count(small, after).peek(0, at)
      const [old, fresh] = [new Count(small, after), new Count(small)]
      for (const cost of [1, small.burst]) {
        expect(old.take(cost, at + resetAfter).toJSON()).toEqual(
          fresh.take(cost, at + resetAfter).toJSON(),
        )
      }
      expect(resetAfter).toBeLessThanOrEqual(
        Math.max(0, (after?.at ?? at) - at) + 2 * large.window + sizeOf(large) / small.quota + 1,
      )
    })
  })
})

describe.each(ALGORITHMS)('%s in a store', (algorithm) => {
  it('is forgotten only when every limit that shares it reads it as new', () => {
    fc.assert(
      fc.property(
        pairs(algorithm),
        starts,
        steps(60, { refund: true }),
        ([large, small], start, path) => {
          const clock = fakeClock(start)
          const store = memoryStore({ clock })
          const walk = new Walk(large, start)
          const slowestQuota = Math.max(1, small.quota)
          const pairs: [got: unknown, expected: object][] = []
          let state: State | undefined
          for (const [i, drawn] of path.entries()) {
            const { do: done, cost, at, takenAt } = walk.next(drawn)
            const own = drawn.part < 0.5 ? small : large
            const check = { space: 's', key: 'k', limit: own, cost, takenAt, slowestQuota }
            clock.set(at)
            // New keys make the store forget what it may.
            store.take([{ ...check, key: `other ${i}`, limit: large, cost: 1 }])
            const count = new Count(own, state)
            if (done === 'refund') {
              store.refund([check])
              if (state !== undefined) count.state = refunded(own, state, cost, at, takenAt)
            } else {
              pairs.push([store[done]([check])[0], count[done](cost, at).toJSON()])
              walk.told(count.peek(1, at), { do: done, cost, at, takenAt })
            }
            state = count.state
          }
          for (const [got, expected] of pairs) expect(got).toMatchObject(expected)
          store.close()
        },
      ),
      runs(150),
    )
  })
})

/** A state after a refund, never forgotten. */
function refunded(own: Limit, state: State, cost: number, at: Millis, takenAt: Millis): State {
  const left = { ...state }
  algorithmOf(own).take(own, left, 0, at)
  algorithmOf(own).refund(own, left, cost, at, takenAt)
  return left
}

/** The most that a limit counts, in the numbers of its state. */
function sizeOf({ algorithm, quota, burst, window }: Limit): number {
  const exact = { quota: BigInt(quota), window: BigInt(window), burst: BigInt(burst) }
  return burst * Number(definitions[algorithm].weight(exact))
}

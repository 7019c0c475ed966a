// The laws of a sliding log with stamps, against its definition: the units that were truly admitted, with their instants.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { State } from '../src/algorithms/algorithm.ts'
import { createLimiter } from '../src/limiter/create-limiter.ts'
import { limit, type Limit } from '../src/limit/limit.ts'
import type { LazyVerdict } from '../src/limit/take.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import { fakeClock } from '../src/testing/fake-clock.ts'
import type { Millis } from '../src/time/clock.ts'
import { Count } from './count.ts'
import { walking } from './walking.ts'
import { runs, starts, steps, Walk, type Concrete } from './walks.ts'

const quotas = fc.oneof(
  fc.integer({ min: 1, max: 12 }),
  fc.integer({ min: 1, max: 200 }),
  fc.integer({ min: 10_001, max: 2 ** 30 }),
)
const windows = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom(1000, 60_000, 3_600_000))
const stampCounts = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constantFrom(32, 1000))

const stamped: fc.Arbitrary<Limit> = fc
  .record({ quota: quotas, window: windows, stamps: stampCounts })
  .map((fields) => limit({ algorithm: 'sliding-log', ...fields }))

/** The units of one segment. */
const grainOf = ({ quota, stamps }: Limit): number => Math.ceil(quota / stamps!)

interface Admitted {
  readonly at: Millis
  readonly cost: number
}

const within = (admitted: readonly Admitted[], from: Millis, to: Millis): number =>
  admitted.reduce((sum, { at, cost }) => (at > from && at <= to ? sum + cost : sum), 0)

describe('a sliding log with stamps', () => {
  it('never admits more than its quota in any interval of one window', () => {
    walking('sliding-log', { limits: stamped, runs: 400, length: 80 }, () => {
      const admitted: Admitted[] = []
      return ({ limit: made, step, taken }) => {
        if (step.do !== 'take' || !taken.allowed || step.cost === 0) return
        admitted.push(step)
        expect(within(admitted, step.at - made.window, step.at)).toBeLessThanOrEqual(made.quota)
      }
    })
  })

  it('refuses only if more than quota - cost - (grain - 1) units lie in the window', () => {
    let refusals = 0
    walking('sliding-log', { limits: stamped, runs: 400, length: 80 }, () => {
      const admitted: Admitted[] = []
      return ({ limit: made, step, taken }) => {
        if (step.do === 'take' && taken.allowed) admitted.push(step)
        if (taken.allowed || step.cost > made.quota) return
        refusals += 1
        const lying = within(admitted, step.at - made.window, step.at)
        expect(lying).toBeGreaterThan(made.quota - step.cost - (grainOf(made) - 1))
      }
    })
    expect(refusals).toBeGreaterThan(100)
  })

  it('with a stamp for each unit answers as the exact log in every field', () => {
    const exact = fc
      .record({ quota: fc.integer({ min: 1, max: 40 }), window: windows })
      .map(({ quota, window }) => limit({ algorithm: 'sliding-log', quota, window, stamps: 40 }))
    fc.assert(
      fc.property(exact, starts, steps(100, { refund: true, back: true }), (made, start, path) => {
        const { stamps: _, ...plain } = made
        const [counted, log] = [new Count(made), new Count(plain)]
        const walk = new Walk(made, start)
        for (const drawn of path) {
          const step = walk.next(drawn)
          const { do: done, at, cost, takenAt } = step
          if (done === 'refund') {
            counted.refund(cost, at, takenAt)
            log.refund(cost, at, takenAt)
            continue
          }
          const taken = counted[done](cost, at).toJSON()
          expect(taken).toEqual(log[done](cost, at).toJSON())
          walk.told(taken, step)
        }
      }),
      runs(300),
    )
  })

  it('never counts less than the exact log of the same takes and refunds', () => {
    let isMore = 0
    const small = fc
      .record({ quota: fc.integer({ min: 1, max: 200 }), window: windows, stamps: stampCounts })
      .map((fields) => limit({ algorithm: 'sliding-log', ...fields }))
    fc.assert(
      fc.property(small, starts, steps(100, { refund: true }), (made, start, path) => {
        const { stamps: _, ...plain } = made
        const [counted, log] = [new Count(made), new Count(plain)]
        const walk = new Walk(made, start)
        const taken: (readonly [Millis, number])[] = []
        for (const drawn of path) {
          const { at, cost, ...step } = walk.next(drawn)
          const [takenAt, units] = taken[Math.floor(drawn.part * taken.length)] ?? [at, 0]
          if (step.do === 'refund') {
            // What was taken is handed back once.
            if (units > 0) taken.splice(Math.floor(drawn.part * taken.length), 1)
            counted.refund(units, at, takenAt)
            log.refund(units, at, takenAt)
          } else {
            const verdict = counted[step.do](cost, at)
            walk.told(verdict, { at, cost, ...step })
            if (step.do === 'take' && verdict.allowed && cost > 0) {
              // The exact log has room too, as it never counts more.
              log.take(cost, at)
              taken.push([at, cost])
            }
          }
          const [seen, truth] = [counted.peek(0, at).remaining, log.peek(0, at).remaining]
          expect(seen).toBeLessThanOrEqual(truth)
          if (seen < truth) isMore += 1
        }
      }),
      runs(300),
    )
    expect(isMore).toBeGreaterThan(10)
  })

  it('hands back at once what was taken last, to the unit', () => {
    fc.assert(
      fc.property(stamped, starts, steps(60), (made, start, path) => {
        const count = new Count(made)
        const walk = new Walk(made, start)
        for (const drawn of path) {
          const step = walk.next(drawn)
          const before = count.branch()
          const taken = count.take(step.cost, step.at)
          walk.told(taken, step)
          if (!taken.allowed || step.cost === 0) continue
          const undone = count.branch()
          undone.refund(step.cost, step.at, step.at)
          const { remaining, retryAfter } = before.peek(made.quota, step.at)
          const again = undone.peek(made.quota, step.at)
          expect(again.remaining).toBe(remaining)
          expect(again.retryAfter).toBeGreaterThanOrEqual(retryAfter ?? 0)
        }
      }),
      runs(200),
    )
  })

  it('keeps its promises when the quota changes under it', () => {
    const pairs = fc
      .tuple(stamped, quotas, stampCounts)
      .map(([made, quota, stamps]) => [made, limit({ ...made, quota, burst: quota, stamps })])
    fc.assert(
      fc.property(pairs, starts, steps(80, { back: true, refund: true }), (two, start, path) => {
        const largest = Math.max(...two.map(({ quota }) => quota))
        const walk = new Walk(two[0]!, start)
        let state: State | undefined
        for (const drawn of path) {
          const own = two[drawn.part < 0.5 ? 0 : 1]!
          const step = walk.next(drawn)
          const count = new Count(own, state)
          const { remaining } = count.peek(0, step.at)
          if (step.do === 'refund') count.refund(step.cost, step.at, step.takenAt)
          else {
            const taken = count[step.do](step.cost, step.at)
            walk.told(taken, step)
            checkTaken(own, taken, step, remaining)
          }
          state = count.state
          expect(state?.used ?? 0).toBeLessThanOrEqual(largest)
          expect(stampsOf(state)).toBeLessThanOrEqual(Math.max(...two.map((l) => l.stamps!)) + 1)
        }
      }),
      runs(300),
    )
  })
})

/** What is taken is what is missing, and a refusal ends when it says so. */
function checkTaken(own: Limit, taken: LazyVerdict, step: Concrete, remaining: number): void {
  const isTaken = step.do === 'take' && taken.allowed
  expect(taken.remaining).toBe(remaining - (isTaken ? step.cost : 0))
  const { retryAfter, allowed } = taken
  if (allowed || retryAfter === null) return
  const later = new Count(own, taken.next)
  expect(later.branch().peek(step.cost, step.at + retryAfter).allowed).toBe(true)
  expect(later.branch().peek(step.cost, step.at + retryAfter - 1).allowed).toBe(false)
}

/** How many stamps count in a state. */
function stampsOf(state: State | undefined): number {
  const { head = 0, tail = 0 } = (state ?? {}) as { head?: number; tail?: number }
  return tail - head
}

describe('the fast path of a sliding log with stamps', () => {
  it('answers in every field as the store does', () => {
    fc.assert(
      fc.property(stamped, starts, steps(80, { back: true, refund: true }), (made, start, path) => {
        const clock = fakeClock(start)
        const store = memoryStore({ clock })
        const limiter = createLimiter({ limit: made, store: memoryStore({ clock }) })
        const walk = new Walk(made, start)
        for (const drawn of path) {
          const step = walk.next(drawn)
          clock.set(step.at)
          if (step.do === 'refund') {
            store.refund([{ space: 's', key: 'k', limit: made, ...step }])
            limiter.refund('k', step.cost, step.takenAt)
            continue
          }
          const cost = drawn.off === 0 ? step.cost : 1
          const [expected] = store.take([{ space: 's', key: 'k', limit: made, cost }])
          const { allowed, remaining, retryAfter, resetAfter } = limiter.check('k', cost)
          expect({ allowed, remaining, retryAfter, resetAfter }).toEqual({
            allowed: expected!.allowed,
            remaining: expected!.remaining,
            retryAfter: expected!.retryAfter,
            resetAfter: expected!.resetAfter,
          })
          walk.told(expected!, { ...step, cost })
        }
        store.close()
        limiter.close()
      }),
      runs(200),
    )
  })
})

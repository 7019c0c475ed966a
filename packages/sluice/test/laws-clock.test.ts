// Law: a clock that goes back never grants more, never throws, and never shuts a key for long.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Millis } from '../src/time/clock.ts'
import { Count } from './count.ts'
import { definitions } from './definitions.ts'
import { ALGORITHMS, limits, runs, starts, steps, Walk } from './walks.ts'
import { walking } from './walking.ts'

/** An instant before `at`, by a part of `span`. */
const before = (at: Millis, span: Millis, part: number): Millis =>
  Math.max(0, at - 1 - Math.floor(part * span))

describe.each(ALGORITHMS)('%s', (algorithm) => {
  it('grants no more at an earlier instant than at the last one', () => {
    walking(
      algorithm,
      { refund: true, back: true, runs: 200 },
      () =>
        ({ limit, after, step, drawn }) => {
          const last = Math.max(after.state!.at, step.at)
          // Within one window of the state, the clock stands still.
          const now = before(last, limit.window, drawn.part)
          const { remaining } = after.peek(0, last)
          expect(after.peek(0, now).remaining).toBeLessThanOrEqual(remaining)
        },
    )
  })

  it('keeps its units when the clock is set back, and gives at most one burst', () => {
    walking(
      algorithm,
      { refund: true, back: true, runs: 200 },
      () =>
        ({ limit, after, drawn, step }) => {
          const { at, used } = after.state!
          const now = Math.max(0, at - Math.ceil(limit.window * (2 + drawn.part)) - 1)
          const moved = after.branch().peek(0, now)
          // A clock that cannot go back that far is not set back.
          expect(moved.next.used).toBe(at - now > 2 * limit.window ? used : moved.next.used)
          const most = after.peek(0, Math.max(at, step.at)).remaining + limit.burst
          expect(moved.remaining).toBeLessThanOrEqual(most)
        },
    )
  })

  it('is open again after the clock is set back no later than a fresh count would be', () => {
    walking(algorithm, { refund: true, back: true, runs: 200 }, () => ({ limit, after, drawn }) => {
      const { at } = after.state!
      const now = Math.floor(drawn.part * at)
      const hold = at - now > 2 * limit.window ? 0 : 2 * limit.window
      const count = after.branch()
      const { resetAfter } = count.take(limit.burst, now)
      expect(resetAfter).toBeLessThanOrEqual(definitions[algorithm].emptyAfter(limit) + hold)
      // The clock runs on from there: what was promised is kept, although the refusal charged nothing.
      expect(count.take(limit.burst, now + resetAfter).allowed).toBe(true)
    })
  })

  it('never throws, whatever the clock does', () => {
    fc.assert(
      fc.property(
        limits(algorithm),
        fc.array(fc.integer({ min: 0, max: 4_000_000_000_000 }), { size: 'max', maxLength: 100 }),
        (limit, instants) => {
          const count = new Count(limit)
          for (const now of instants) {
            const { remaining, resetAfter } = count.take(1, now)
            expect(remaining).toBeGreaterThanOrEqual(0)
            expect(resetAfter).toBeGreaterThanOrEqual(0)
            count.refund(1, now, now - 1)
          }
        },
      ),
      runs(100),
    )
  })
})

describe.each(['token-bucket', 'gcra', 'leaky-bucket', 'sliding-log'] as const)(
  '%s',
  (algorithm) => {
    it('decides on a clock that goes back within a window as on one that stands still', () => {
      fc.assert(
        fc.property(limits(algorithm), starts, steps(60, { back: true }), (limit, start, path) => {
          const [real, held] = [new Count(limit), new Count(limit)]
          const walk = new Walk(limit, start)
          let last = 0
          for (const drawn of path) {
            // 'set back' would go further than a window.
            if (drawn.move === 'set back') continue
            const step = walk.next(drawn)
            const now = Math.max(step.at, last - limit.window)
            const standing = Math.max(now, last)
            const taken = real.take(step.cost, now)
            const expected = held.take(step.cost, standing)
            walk.told(taken, step)
            expect([taken.allowed, taken.remaining]).toEqual([expected.allowed, expected.remaining])
            // Waits begin at what the clock shows.
            const reset = expected.resetAfter === 0 ? 0 : expected.resetAfter + standing - now
            expect(taken.resetAfter).toBe(reset)
            if (taken.allowed && step.cost > 0) last = standing
          }
        }),
        runs(200),
      )
    })
  },
)

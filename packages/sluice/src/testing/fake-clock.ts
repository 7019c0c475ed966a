// A clock that moves only when a test moves it.
import type { Clock, Millis } from '../time/clock.ts'

/**
 * A {@link Clock} under a test's control.
 *
 * @example
 * ```ts
 * const clock: FakeClock = fakeClock()
 * clock.advance(60_000)
 * ```
 */
export interface FakeClock extends Clock {
  /** Moves the clock on (or back, by a negative amount). */
  advance(millis: Millis): void
  /** Sets the clock. */
  set(now: Millis): void
}

/**
 * A clock that stands still at `now` until it is moved.
 *
 * @example
 * ```ts
 * const clock = fakeClock()
 * const limiter = createLimiter({ limit: '1/min', store: memoryStore({ clock }) })
 * clock.advance(60_000)
 * ```
 */
export function fakeClock(now: Millis = 0): FakeClock {
  const clock = (): Millis => now
  return Object.assign(clock, {
    advance: (millis: Millis) => void (now += millis),
    set: (instant: Millis) => void (now = instant),
  })
}

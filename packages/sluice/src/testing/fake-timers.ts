// Timers that fire only when the test moves their clock.
import type { ClientTimers } from '../client/timers.ts'
import type { Millis } from '../time/clock.ts'
import { afterTurn } from '../time/timers.ts'
import { fakeClock, type FakeClock } from './fake-clock.ts'

/**
 * {@link ClientTimers} under a test's control.
 *
 * @example
 * ```ts
 * const timers: FakeTimers = fakeTimers()
 * await timers.advance(1000)
 * ```
 */
export interface FakeTimers extends ClientTimers {
  readonly clock: FakeClock
  /** How many timers are set. */
  readonly pending: number
  /** Moves the clock on, timer by timer; whatever a timer sets off has settled before the next one fires. */
  advance(millis: Millis): Promise<void>
}

interface Pending {
  readonly at: Millis
  readonly run: () => void
}

/**
 * Timers on a clock that stands at `now` until it is moved.
 *
 * @example
 * ```ts
 * const timers = fakeTimers()
 * await timers.advance(1000)
 * ```
 */
export function fakeTimers(now: Millis = 0): FakeTimers {
  const clock = fakeClock(now)
  const timers = new Set<Pending>()
  const next = (): Pending | undefined => {
    let soonest: Pending | undefined
    for (const timer of timers) if (soonest === undefined || timer.at < soonest.at) soonest = timer
    return soonest
  }
  return {
    clock,
    wall: clock,
    get pending() {
      return timers.size
    },
    set(run, after) {
      const timer = { at: clock() + Math.max(0, after), run }
      timers.add(timer)
      return timer
    },
    clear: (timer) => void timers.delete(timer as Pending),
    async advance(millis) {
      const end = clock() + millis
      await turn()
      for (let timer = next(); timer !== undefined && timer.at <= end; timer = next()) {
        timers.delete(timer)
        clock.set(Math.max(clock(), timer.at))
        timer.run()
        await turn()
      }
      clock.set(Math.max(clock(), end))
    },
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => afterTurn(resolve))
}

// Waiting, as a seam: tests and simulations bring their own.
import { afterTurn } from './turn.ts'
import type { Millis } from './clock.ts'

/** What can wait. */
export interface Timers {
  /** Runs a function after so many milliseconds, unless it is stopped. */
  start(run: () => void, after: Millis): unknown
  stop(timer: unknown): void
  /** Runs a function after the input of this turn has been handled. */
  afterTurn(run: () => void): void
}

/** The runtime's own. */
export const systemTimers: Timers = {
  start: (run, after) => setTimeout(run, after),
  stop: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
  afterTurn,
}

/** The runtime's own, but none of them keeps the process alive. */
export const backgroundTimers: Timers = {
  ...systemTimers,
  start(run, after) {
    const timer = setTimeout(run, after)
    ;(timer as { unref?: () => void }).unref?.()
    return timer
  },
}

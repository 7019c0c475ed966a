// Waiting, as a seam: tests and simulations bring their own.
import { afterTurn } from './turn.ts'
import type { Millis } from './clock.ts'

/** What can wait. */
export interface Timers {
  /** Runs a function after so many milliseconds, unless it is stopped. */
  start(run: () => void, after: Millis): unknown
  stop(timer: unknown): void
  /** Says whether the process must live until a timer has run; it must unless told otherwise. */
  hold(timer: unknown, isHeld: boolean): void
  /** Runs a function after the input of this turn has been handled. */
  afterTurn(run: () => void): void
}

/** The runtime's own. */
export const systemTimers: Timers = {
  start: (run, after) => setTimeout(run, after),
  stop: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
  hold(timer, isHeld) {
    // In browsers a timer is a number, and no process waits for it.
    const { ref, unref } = timer as { ref?: () => void; unref?: () => void }
    if (isHeld) ref?.call(timer)
    else unref?.call(timer)
  },
  afterTurn,
}

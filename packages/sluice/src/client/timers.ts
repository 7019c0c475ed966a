// Time and timers as the client side sees them; tests put their own in place.
import { systemClock, type Clock, type Millis } from '../time/clock.ts'
import { onAbort } from './abort-groups.ts'

/** Where waits come from: the system's by default, a test's own in a test. */
export interface Timers {
  /** For durations: never steps backwards. */
  readonly clock: Clock
  /** The calendar, to compare with the instants that servers name. */
  readonly wall: Clock
  /** Runs a function once, after so many milliseconds. A long wait may be cut short: whoever waits looks again. */
  set(run: () => void, after: Millis): unknown
  clear(timer: unknown): void
}

/** The longest that a timer of the runtime can wait; beyond it, Node fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1

/** The timers of the runtime. */
export const systemTimers: Timers = {
  clock: systemClock,
  wall: () => Date.now(),
  set: (run, after) => setTimeout(run, Math.min(Math.max(0, after), LONGEST_TIMER)),
  clear: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout> | undefined),
}

/** Waits; rejects with the signal's reason as soon as it is aborted, and then leaves neither timer nor listener. */
export function sleep(timers: Timers, millis: Millis, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error)
      return
    }
    const until = timers.clock() + millis
    const wake = (): void => {
      const left = until - timers.clock()
      if (left > 0) {
        timer = timers.set(wake, left)
        return
      }
      forget()
      resolve()
    }
    let timer = timers.set(wake, millis)
    const forget = onAbort(signal, () => {
      timers.clear(timer)
      reject(signal?.reason as Error)
    })
  })
}

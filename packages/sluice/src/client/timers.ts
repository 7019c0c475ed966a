// The clocks and timers of the client side; tests replace them.
import { systemClock, type Clock, type Millis } from '../time/clock.ts'
import type { OptionReader } from '../options/option-reader.ts'
import { MAX_TIMER_MS } from '../time/timers.ts'
import { onAbort } from './abort-groups.ts'

/**
 * The clocks and timers that a client uses. Default: the runtime's; in tests `fakeTimers()` of `sluice/testing`.
 *
 * @example
 * ```ts
 * const timers: ClientTimers = fakeTimers()
 * const send = polite(fetch, { timers })
 * ```
 */
export interface ClientTimers {
  /** For durations: never steps backwards. */
  readonly clock: Clock
  /** The wall clock, compared with the instants that servers name. */
  readonly wall: Clock
  /** Calls a function once after so many milliseconds. It may be called early; the caller checks the clock again. */
  set(run: () => void, after: Millis): unknown
  clear(timer: unknown): void
}

/** The runtime's clocks and timers. */
export const runtimeTimers: ClientTimers = {
  clock: systemClock,
  wall: () => Date.now(),
  set: (run, after) => setTimeout(run, Math.min(Math.max(0, after), MAX_TIMER_MS)),
  clear: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout> | undefined),
}

/** Reads the option `timers`. */
export function readTimers(reader: OptionReader, timers: ClientTimers | undefined): ClientTimers {
  reader.shaped('timers', timers, ['clock', 'wall', 'set', 'clear'])
  return timers ?? runtimeTimers
}

/** Resolves after so many milliseconds. Rejects with the signal's reason as soon as it is aborted, and then leaves neither timer nor listener. */
export function sleep(
  timers: ClientTimers,
  millis: Millis,
  signal?: AbortSignal | null,
): Promise<void> {
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

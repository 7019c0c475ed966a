// Timers, which tests and simulations replace.
import type { Millis } from './clock.ts'

/** Starts and stops timers. */
export interface Timers {
  /** Runs a function after so many milliseconds, unless it is stopped. */
  start(run: () => void, after: Millis): unknown
  stop(timer: unknown): void
  /** Lets the process end before the timer fires; false when that is not possible. */
  release?(timer: unknown): boolean
  /** Undoes {@link release}. */
  hold?(timer: unknown): void
  /** Runs a function after the input of this turn has been handled. */
  afterTurn(run: () => void): void
}

/** As much of Node's `async_hooks` as is used. It is looked up, not imported: browsers and edges have none. */
interface NodeRuntime {
  readonly process?: {
    getBuiltinModule?(
      id: 'node:async_hooks',
    ): { AsyncLocalStorage?: { snapshot?(): RunOutside } } | undefined
  }
}

type RunOutside = <A extends unknown[], T>(run: (...args: A) => T, ...args: A) => T

/**
 * Runs a function in the async context in which this file was loaded. A timer keeps the context in which it was started;
 * one that serves many requests would keep everything that belongs to the first of them.
 */
const outsideRequests: RunOutside =
  (globalThis as NodeRuntime).process
    ?.getBuiltinModule?.('node:async_hooks')
    ?.AsyncLocalStorage?.snapshot?.() ?? ((run, ...args) => run(...args))

/** Runs a function after the input of this turn has been handled, where the runtime has a name for that. */
export function afterTurn(run: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (run: () => void) => unknown }
  if (setImmediate === undefined) setTimeout(run, 0)
  else setImmediate(run)
}

/** The runtime's own, started in the context of no request. */
export const systemTimers: Timers = {
  start: (run, after) => outsideRequests(setTimeout, run, after),
  stop: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
  release(timer) {
    const own = timer as NodeTimer
    if (own.unref === undefined) return false
    own.unref()
    return true
  },
  hold: (timer) => void (timer as NodeTimer).ref?.(),
  afterTurn,
}

/** A timer of Node; those of browsers are numbers. */
interface NodeTimer {
  unref?(): unknown
  ref?(): unknown
}

/**
 * The longest delay that a runtime's timer keeps; longer ones fire at once. About 24.8 days.
 *
 * @example
 * ```ts
 * const wait = Math.min(decision.delay, MAX_TIMER_MS)
 * ```
 */
export const MAX_TIMER_MS: Millis = 2 ** 31 - 1

/** The runtime's own, but none of them keeps the process alive. */
export const backgroundTimers: Timers = {
  ...systemTimers,
  start(run, after) {
    const timer = setTimeout(run, after)
    ;(timer as { unref?: () => void }).unref?.()
    return timer
  },
}

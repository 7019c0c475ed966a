// Timers, which tests and simulations replace, and the deadlines of pending calls, which share one timer.
import type { Clock, Millis } from './clock.ts'

/** Starts and stops timers. */
export interface Timers {
  /**
   * Runs a function after so many milliseconds, unless it is stopped. If the timer has `ref` and `unref`, as those of Node
   * do, they say whether it keeps the process alive.
   */
  start(run: () => void, after: Millis): unknown
  stop(timer: unknown): void
  /** Runs a function after the input of this turn has been handled. */
  afterTurn(run: () => void): void
}

/** A timer of Node; those of browsers are numbers. */
interface NodeTimer {
  unref?(): unknown
  ref?(): unknown
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
  // Looked up for each call: what fake timers have put there when this file was loaded may be gone.
  const { setImmediate } = globalThis as { setImmediate?: (run: () => void) => unknown }
  if (setImmediate === undefined) setTimeout(run, 0)
  else setImmediate(run)
}

/** The runtime's own, started in the context of no request. */
export const systemTimers: Timers = {
  start: (run, after) => outsideRequests(setTimeout, run, after),
  stop: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
  afterTurn,
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
    const timer: unknown = setTimeout(run, after)
    ;(timer as NodeTimer).unref?.()
    return timer
  },
}

/** Starts a timer that does not keep the process alive, where the runtime allows that. */
export function startInBackground(timers: Timers, run: () => void, after: Millis): unknown {
  const timer = timers.start(run, after) as NodeTimer | undefined
  timer?.unref?.()
  return timer
}

/** Something that is given up at an instant, and its place in the list. */
export interface ExpiringItem<T> {
  readonly deadline: Millis
  before: T | null
  after: T | null
}

/**
 * Calls `expire` when an item's deadline has passed. Items are added in the order of their deadlines, also if one is moved later. The
 * timer keeps the process alive, but no longer than its pending calls.
 *
 * Where the runtime can unref a timer, it stays after the last item: starting and stopping one for each call costs more
 * than the rest of a call that is alone. It may then fire early, and is started again for what is left.
 *
 * The items themselves form a linked list. A Set leaves tables behind that keep calls long answered from
 * being collected: measured, it made a check several times as expensive.
 */
export class Timeouts<T extends ExpiringItem<T>> {
  private readonly clock: Clock
  private readonly expire: (item: T) => void
  private readonly timers: Timers
  private first: T | null = null
  private last: T | null = null
  private timer: unknown
  /** The timer does not keep the process alive. */
  private isUnreffed = false
  /** The timer has fired; answers already in the socket get one more turn. Items added meanwhile are checked when it ends. */
  private hasFired = false

  constructor(clock: Clock, expire: (item: T) => void, timers: Timers = systemTimers) {
    this.clock = clock
    this.expire = expire
    this.timers = timers
  }

  add(item: T): void {
    item.before = this.last
    if (this.last === null) this.first = item
    else this.last.after = item
    this.last = item
    if (this.hasFired) return
    if (this.timer === undefined)
      this.timer = this.timers.start(this.tick, Math.max(0, item.deadline - this.clock()))
    else if (this.isUnreffed) {
      this.isUnreffed = false
      ;(this.timer as NodeTimer).ref?.()
    }
  }

  /** Removes an item from the list, in which it must be. The callback of an expired item may call this too. */
  remove(item: T): void {
    const { before, after } = item
    if (before === null) this.first = after
    else before.after = after
    if (after === null) this.last = before
    else after.before = before
    item.before = null
    item.after = null
    if (this.first !== null || this.timer === undefined) return
    const timer = this.timer as NodeTimer | null
    this.isUnreffed = timer?.unref !== undefined
    if (this.isUnreffed) return void timer!.unref!()
    this.timers.stop(this.timer)
    this.timer = undefined
  }

  private readonly tick = (): void => {
    this.timer = undefined
    this.isUnreffed = false
    if (this.first === null) return
    this.hasFired = true
    // The event loop may have been blocked past the deadline with the answer in the socket: it gets one turn.
    this.timers.afterTurn(() => {
      this.hasFired = false
      const now = this.clock()
      while (this.first !== null && this.first.deadline <= now) {
        const item = this.first
        this.expire(item)
        if (this.first === item && item.deadline <= now) this.remove(item)
      }
      if (this.first !== null)
        this.timer ??= this.timers.start(this.tick, Math.max(1, this.first.deadline - now))
    })
  }
}

interface WaitingCall extends ExpiringItem<WaitingCall> {
  giveUp(): void
}

/** Gives calls up after a time. An answer that is already there when the timer is late still counts. */
export class Deadlines {
  private readonly timeout: Millis
  private readonly clock: Clock
  private readonly timeoutError: (timeout: Millis) => Error
  private readonly waiting: Timeouts<WaitingCall>

  /** `timeoutError` makes the error of a call that was given up. */
  constructor(
    timeout: Millis,
    clock: Clock,
    timers: Timers,
    timeoutError: (timeout: Millis) => Error,
  ) {
    this.timeout = timeout
    this.clock = clock
    this.timeoutError = timeoutError
    this.waiting = new Timeouts<WaitingCall>(clock, (call) => call.giveUp(), timers)
  }

  /**
   * Resolves with what `passed` makes of the answer or, for an error or after the deadline, with what `failed` makes of
   * it. Values that arrive later go to `late`; later errors are dropped.
   */
  race<T, R = T>(
    answer: Promise<T>,
    late?: (value: T) => void,
    passed: (value: T) => R | Promise<R> = identity as unknown as (value: T) => R,
    failed: (error: unknown) => R | Promise<R> = rethrow,
  ): Promise<R> {
    return new Promise((resolve, reject) => {
      let isOver = false
      const fail = (error: unknown): void => {
        isOver = true
        this.waiting.remove(call)
        try {
          resolve(failed(error))
        } catch (error) {
          reject(error as Error)
        }
      }
      const call: WaitingCall = {
        deadline: this.clock() + this.timeout,
        before: null,
        after: null,
        giveUp: () => fail(this.timeoutError(this.timeout)),
      }
      this.waiting.add(call)
      answer.then(
        (value) => {
          if (isOver) return late?.(value)
          isOver = true
          this.waiting.remove(call)
          try {
            resolve(passed(value))
          } catch (error) {
            reject(error as Error)
          }
        },
        (error: unknown) => {
          if (!isOver) fail(error)
        },
      )
    })
  }
}

function identity<T>(value: T): T {
  return value
}

function rethrow(error: unknown): never {
  throw error
}

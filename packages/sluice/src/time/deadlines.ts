// Deadlines of pending calls: one timer for all, since all of them have the same timeout.
import type { Clock, Millis } from './clock.ts'
import { systemTimers, type Timers } from './timers.ts'

/** Something that is given up at an instant, and its place in the line. */
export interface Expiring<T> {
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
 * The line is made of the items themselves. A Set leaves tables behind that keep calls long answered from
 * being collected: measured, it made a check several times as expensive.
 */
export class Timeouts<T extends Expiring<T>> {
  private readonly clock: Clock
  private readonly expire: (item: T) => void
  private readonly timers: Timers
  private first: T | null = null
  private last: T | null = null
  private timer: unknown
  /** The timer does not keep the process alive. */
  private isReleased = false
  /** The timer has fired; answers already in the socket get one more turn. Items added meanwhile are checked when it ends. */
  private isLastTurn = false

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
    if (this.isLastTurn) return
    if (this.timer === undefined)
      this.timer = this.timers.start(this.tick, Math.max(0, item.deadline - this.clock()))
    else if (this.isReleased) {
      this.isReleased = false
      this.timers.hold?.(this.timer)
    }
  }

  /** Takes an item out of the line, in which it must be. The callback of an expired item may call this too. */
  remove(item: T): void {
    const { before, after } = item
    if (before === null) this.first = after
    else before.after = after
    if (after === null) this.last = before
    else after.before = before
    item.before = null
    item.after = null
    if (this.first !== null || this.timer === undefined) return
    this.isReleased = this.timers.release?.(this.timer) ?? false
    if (this.isReleased) return
    this.timers.stop(this.timer)
    this.timer = undefined
  }

  private readonly tick = (): void => {
    this.timer = undefined
    this.isReleased = false
    if (this.first === null) return
    this.isLastTurn = true
    // The event loop may have been blocked past the deadline with the answer in the socket: it gets one turn.
    this.timers.afterTurn(() => {
      this.isLastTurn = false
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

interface Waiting extends Expiring<Waiting> {
  giveUp(): void
}

/** Gives calls up after a time. An answer that is already there when the timer is late still counts. */
export class Deadlines {
  private readonly timeout: Millis
  private readonly clock: Clock
  private readonly tooLate: (timeout: Millis) => Error
  private readonly waiting: Timeouts<Waiting>

  /** `tooLate` makes the error of a call that was given up. */
  constructor(timeout: Millis, clock: Clock, timers: Timers, tooLate: (timeout: Millis) => Error) {
    this.timeout = timeout
    this.clock = clock
    this.tooLate = tooLate
    this.waiting = new Timeouts<Waiting>(clock, (call) => call.giveUp(), timers)
  }

  /**
   * Resolves with what `passed` makes of the answer or, for an error or after the deadline, with what `failed` makes of
   * it. Values that arrive later go to `late`; later errors are dropped.
   */
  race<T, R = T>(
    answer: Promise<T>,
    late?: (value: T) => void,
    passed: (value: T) => R | Promise<R> = same as unknown as (value: T) => R,
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
      const call: Waiting = {
        deadline: this.clock() + this.timeout,
        before: null,
        after: null,
        giveUp: () => fail(this.tooLate(this.timeout)),
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

function same<T>(value: T): T {
  return value
}

function rethrow(error: unknown): never {
  throw error
}

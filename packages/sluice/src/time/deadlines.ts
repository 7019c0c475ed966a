// Deadlines of pending calls, all of the same length: one timer for all, one promise for each call.
import type { Clock, Millis } from './clock.ts'
import { Timeouts, type Expiring } from './timeouts.ts'
import type { Timers } from './timers.ts'

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

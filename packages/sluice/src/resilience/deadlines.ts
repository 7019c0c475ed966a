// Calls that somebody waits for, each for as long as all others: one timer, one promise for each call.
import type { MaybePromise } from '../stores/store.ts'
import type { Clock, Millis } from '../time/clock.ts'
import { Timeouts } from '../time/timeouts.ts'
import type { Timers } from '../time/timers.ts'
import { tooLate } from './failures.ts'

interface Waiting {
  readonly deadline: Millis
  giveUp(): void
}

/** Gives calls up after a time. An answer that is already there when the timer is late still counts. */
export class Deadlines {
  private readonly timeout: Millis
  private readonly clock: Clock
  private readonly waiting: Timeouts<Waiting>

  constructor(timeout: Millis, clock: Clock, timers: Timers) {
    this.timeout = timeout
    this.clock = clock
    this.waiting = new Timeouts<Waiting>(clock, (call) => call.giveUp(), timers)
  }

  /**
   * The answer as `passed` or, for an error or after the time, `failed` makes it. What arrives after that goes
   * to `late`; errors that do are dropped.
   */
  race<T>(
    answer: Promise<T>,
    passed: (value: T) => T,
    failed: (error: unknown) => MaybePromise<T>,
    late: ((value: T) => void) | undefined,
  ): Promise<T> {
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
        giveUp: () => fail(tooLate(this.timeout)),
      }
      this.waiting.add(call)
      answer.then(
        (value) => {
          if (isOver) return late?.(value)
          isOver = true
          this.waiting.remove(call)
          resolve(passed(value))
        },
        (error: unknown) => {
          if (!isOver) fail(error)
        },
      )
    })
  }
}

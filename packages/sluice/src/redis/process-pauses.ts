// How long the process was paused while it waited for its first answer.
import type { Clock, Millis } from '../time/clock.ts'
import { startInBackground, type Timers } from '../time/timers.ts'

/** Milliseconds between two samples. */
const SAMPLE_EVERY: Millis = 5
/** Milliseconds after which no pause is added any more: the start of a process is over. */
export const STARTUP_TIME: Millis = 1000

/**
 * Adds up by how much timers were late. A fleet that starts keeps its machine busy: the connection of a process may then take
 * longer than a deadline, although only the process itself is slow.
 */
export class ProcessPauses {
  private readonly clock: Clock
  private readonly timers: Timers
  private timer: unknown
  /** When the timer was started; undefined while there is none. */
  private timerStartedAt: Millis | undefined
  private endsAt: Millis | undefined
  private sum: Millis = 0

  constructor(clock: Clock, timers: Timers) {
    this.clock = clock
    this.timers = timers
  }

  /** Milliseconds so far, with a pause that has not ended. */
  get total(): Millis {
    if (this.timerStartedAt === undefined) return this.sum
    const late = this.clock() - this.timerStartedAt - SAMPLE_EVERY
    // Timers are a little late on any machine.
    return late > SAMPLE_EVERY ? this.sum + late : this.sum
  }

  /** Begins, once. */
  start(): void {
    if (this.endsAt !== undefined) return
    this.endsAt = this.clock() + STARTUP_TIME
    this.wait()
  }

  /** Nothing is added from now on. */
  stop(): void {
    this.sum = this.total
    this.timerStartedAt = undefined
    this.endsAt = 0
    this.timers.stop(this.timer)
  }

  private wait(): void {
    const sample = (): void => {
      this.sum = this.total
      this.timerStartedAt = undefined
      if (this.clock() < this.endsAt!) this.wait()
    }
    this.timerStartedAt = this.clock()
    this.timer = startInBackground(this.timers, sample, SAMPLE_EVERY)
  }
}

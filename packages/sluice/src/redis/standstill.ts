// How long the process has stood still while it waited for its first answer.
import type { Clock, Millis } from '../time/clock.ts'
import { startInBackground, type Timers } from '../time/timers.ts'

/** Milliseconds between two looks. */
const LOOK: Millis = 5
/** Milliseconds after which it ends by itself: the start of a process is over. */
export const LONGEST_STANDSTILL: Millis = 1000

/**
 * Sums up by how much timers were late. A fleet that starts keeps its machine busy: the connection of a process may then take
 * longer than a deadline, although only the process itself is slow.
 */
export class Standstill {
  private readonly clock: Clock
  private readonly timers: Timers
  private timer: unknown
  /** When the timer was started; undefined while there is none. */
  private since: Millis | undefined
  private endsAt: Millis | undefined
  private sum: Millis = 0

  constructor(clock: Clock, timers: Timers) {
    this.clock = clock
    this.timers = timers
  }

  /** Milliseconds so far, with a time that has not ended. */
  get total(): Millis {
    if (this.since === undefined) return this.sum
    const late = this.clock() - this.since - LOOK
    // Timers are a little late on any machine.
    return late > LOOK ? this.sum + late : this.sum
  }

  /** Begins, once. */
  start(): void {
    if (this.endsAt !== undefined) return
    this.endsAt = this.clock() + LONGEST_STANDSTILL
    this.wait()
  }

  /** Nothing is added from now on. */
  stop(): void {
    this.sum = this.total
    this.since = undefined
    this.endsAt = 0
    this.timers.stop(this.timer)
  }

  private wait(): void {
    const look = (): void => {
      this.sum = this.total
      this.since = undefined
      if (this.clock() < this.endsAt!) this.wait()
    }
    this.since = this.clock()
    this.timer = startInBackground(this.timers, look, LOOK)
  }
}

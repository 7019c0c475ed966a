// Time that passes from event to event: a clock, timers, and everything that happens later, in one order.
import type { Clock, Millis } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import { popHappening, pushHappening, type Happening } from './happenings.ts'

/** More than the longest chain of promises between an answer of the store and a decision. */
const LONGEST_CHAIN = 24

/** A world with its own time, which may have fractions of a millisecond. */
export class VirtualTime {
  now: number
  private readonly heap: Happening[] = []
  private made = 0
  private isUnsettled = false

  constructor(now: Millis) {
    this.now = now
  }

  readonly clock: Clock = () => Math.floor(this.now)

  readonly timers: Timers = {
    start: (run, after) => this.at(this.now + Math.max(0, after), run),
    stop: (timer) => {
      if (timer !== undefined) (timer as Happening).run = null
    },
    afterTurn: (run) => void this.at(this.now, run),
  }

  /** Makes something happen at an instant; never before now. */
  at(instant: number, run: () => void): unknown {
    const happening = { at: Math.max(this.now, instant), order: this.made++, run }
    pushHappening(this.heap, happening)
    return happening
  }

  /** Promises may have been settled by what happens now: they come first. */
  settle(): void {
    this.isUnsettled = true
  }

  /** Lets everything happen that happens before an instant. Only promises make it wait. */
  async passUntil(end: number): Promise<void> {
    for (;;) {
      if (this.isUnsettled) {
        this.isUnsettled = false
        for (let i = 0; i < LONGEST_CHAIN; i++) await Promise.resolve()
      }
      const next = this.heap[0]
      if (next === undefined || next.at >= end) break
      popHappening(this.heap)
      if (next.run === null) continue
      this.now = next.at
      next.run()
    }
    this.now = end
  }
}

// Time that passes from event to event: a clock, timers, and everything that happens later, in one order.
import type { Clock, Millis } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import { popEvent, pushEvent, type ScheduledEvent } from './event-heap.ts'

/** More than the longest chain of promises between an answer of the store and a decision. */
const LONGEST_CHAIN = 24

/** A world with its own time, which may have fractions of a millisecond. */
export class VirtualTime {
  now: number
  private readonly heap: ScheduledEvent[] = []
  private scheduled = 0
  private isUnsettled = false

  constructor(now: Millis) {
    this.now = now
  }

  readonly clock: Clock = () => Math.floor(this.now)

  readonly timers: Timers = {
    start: (run, after) => this.at(this.now + Math.max(0, after), run),
    stop: (timer) => {
      if (timer !== undefined) (timer as ScheduledEvent).run = null
    },
    afterTurn: (run) => void this.at(this.now, run),
  }

  /** Schedules an event at an instant, or now if the instant is past. */
  at(instant: number, run: () => void): unknown {
    const event = { at: Math.max(this.now, instant), order: this.scheduled++, run }
    pushEvent(this.heap, event)
    return event
  }

  /** To be called when the present event may have settled promises: their callbacks run before the next event. */
  settle(): void {
    this.isUnsettled = true
  }

  /** Runs all events before an instant. Waits for nothing but promises. */
  async passUntil(end: number): Promise<void> {
    for (;;) {
      if (this.isUnsettled) {
        this.isUnsettled = false
        for (let i = 0; i < LONGEST_CHAIN; i++) await Promise.resolve()
      }
      const next = this.heap[0]
      if (next === undefined || next.at >= end) break
      popEvent(this.heap)
      if (next.run === null) continue
      this.now = next.at
      next.run()
    }
    this.now = end
  }
}

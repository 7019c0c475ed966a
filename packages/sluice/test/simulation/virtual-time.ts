// Time that passes when it is told to: a clock, timers, and everything that happens later, in one order.
import { popEvent, pushEvent, type ScheduledEvent } from '../../src/simulator/event-heap.ts'
import type { Clock, Millis } from '../../src/time/clock.ts'
import type { Timers } from '../../src/time/timers.ts'

/** A world with its own time. Nothing in it happens by itself. */
export class VirtualTime {
  now: Millis
  private readonly heap: ScheduledEvent[] = []
  private made = 0

  constructor(now: Millis = 1_800_000_000_000) {
    this.now = now
  }

  readonly clock: Clock = () => this.now

  readonly timers: Timers = {
    start: (run, after) => this.at(this.now + Math.max(0, after), run),
    stop: (timer) => {
      if (timer !== undefined) (timer as ScheduledEvent).run = null
    },
    afterTurn: (run) => void this.at(this.now, run),
  }

  /** Makes something happen at an instant. */
  at(at: Millis, run: () => void): unknown {
    const event = { at, order: this.made++, run }
    pushEvent(this.heap, event)
    return event
  }

  /** Lets the next thing happen; false when there is none, or none until `limit`. Promises settle afterwards. */
  async step(limit: Millis = Infinity): Promise<boolean> {
    for (;;) {
      const next = this.heap[0]
      if (next === undefined || next.at > limit) return false
      popEvent(this.heap)
      if (next.run === null) continue
      this.now = Math.max(this.now, next.at)
      next.run()
      await settled()
      return true
    }
  }

  /** Lets everything happen that happens within a time. */
  async pass(millis: Millis): Promise<void> {
    const end = this.now + millis
    await settled()
    while (await this.step(end)) continue
    this.now = end
  }
}

/** Ends when every promise that could settle has. */
async function settled(): Promise<void> {
  // More than the longest chain of promises between a store's answer and a decision.
  for (let i = 0; i < 24; i++) await Promise.resolve()
}

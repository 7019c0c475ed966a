// One timer for all calls on their way, since they all wait equally long.
import type { Clock, Millis } from './clock.ts'
import { systemTimers, type Timers } from './timers.ts'

/** Something that is given up at an instant. */
interface Expiring {
  readonly deadline: Millis
}

/**
 * Tells when an item's deadline has passed. Items come in the order of their deadlines. The timer keeps the
 * process alive, but no longer than the calls that somebody waits for.
 */
export class Timeouts<T extends Expiring> {
  private readonly clock: Clock
  private readonly expire: (item: T) => void
  private readonly timers: Timers
  private readonly items = new Set<T>()
  private timer: unknown
  /** The timer has fired, and the turn that it gives to answers is not over: who comes now is looked at then. */
  private isTurn = false

  constructor(clock: Clock, expire: (item: T) => void, timers: Timers = systemTimers) {
    this.clock = clock
    this.expire = expire
    this.timers = timers
  }

  add(item: T): void {
    this.items.add(item)
    if (!this.isTurn)
      this.timer ??= this.timers.start(this.tick, Math.max(0, item.deadline - this.clock()))
  }

  remove(item: T): void {
    this.items.delete(item)
    if (this.items.size > 0) return
    this.timers.stop(this.timer)
    this.timer = undefined
  }

  private readonly tick = (): void => {
    this.timer = undefined
    this.isTurn = true
    // The event loop may have been blocked past the deadline with the answer in the socket: it gets one turn.
    this.timers.afterTurn(() => {
      this.isTurn = false
      const now = this.clock()
      for (const item of this.items) {
        if (item.deadline > now) break
        this.expire(item)
      }
      const [oldest] = this.items
      if (oldest !== undefined)
        this.timer ??= this.timers.start(this.tick, Math.max(1, oldest.deadline - now))
    })
  }
}

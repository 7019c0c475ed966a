// One timer for all calls on their way, since they all wait equally long.
import type { Clock, Millis } from '../time/clock.ts'
import { afterTurn } from '../time/turn.ts'

/** Something that is given up at an instant. */
interface Expiring {
  readonly deadline: Millis
}

/** Tells when an item's deadline has passed. Items come in the order of their deadlines. */
export class Timeouts<T extends Expiring> {
  private readonly clock: Clock
  private readonly expire: (item: T) => void
  private readonly items = new Set<T>()
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(clock: Clock, expire: (item: T) => void) {
    this.clock = clock
    this.expire = expire
  }

  add(item: T): void {
    this.items.add(item)
    this.timer ??= setTimeout(this.tick, Math.max(0, item.deadline - this.clock()))
  }

  remove(item: T): void {
    this.items.delete(item)
    if (this.items.size > 0) return
    clearTimeout(this.timer)
    this.timer = undefined
  }

  private readonly tick = (): void => {
    this.timer = undefined
    // The event loop may have been blocked past the deadline with the answer in the socket: it gets one turn.
    afterTurn(() => {
      const now = this.clock()
      for (const item of this.items) {
        if (item.deadline > now) break
        this.expire(item)
      }
      const [oldest] = this.items
      if (oldest !== undefined)
        this.timer ??= setTimeout(this.tick, Math.max(1, oldest.deadline - now))
    })
  }
}

// What this process knows of the store's clock, so that a lease ends with its window.
import { algorithmOf } from '../algorithms/table.ts'
import type { Limit } from '../limit/limit.ts'
import { lifeWithin } from '../stores/holds/held-count.ts'
import type { Millis } from '../time/clock.ts'

/** The store's clock as of its last answer. */
export class StoreTime {
  private at: Millis = 0
  private sentAt: number | undefined

  /** Takes over an answer: the store's time was `at` at some instant from `sentAt` on. */
  learn(at: Millis, sentAt: number): void {
    this.at = at
    this.sentAt = sentAt
  }

  /** How long a lease requested at `now` can be spent: up to the edge of its window. 0 if the store's time is unknown. */
  lifeWithin(limit: Limit, life: Millis, now: number): Millis {
    if (!algorithmOf(limit).isAligned) return life
    if (this.sentAt === undefined) return 0
    return lifeWithin(limit, life, this.at + Math.ceil(now - this.sentAt))
  }
}

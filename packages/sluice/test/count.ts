// One count held in hand: the pure functions, with the state kept as a store keeps it.
import type { State } from '../src/algorithms/algorithm.ts'
import { algorithmOf } from '../src/algorithms/table.ts'
import { peekBy, take, type LazyVerdict } from '../src/limit/take.ts'
import type { Limit } from '../src/limit/limit.ts'
import type { Millis } from '../src/time/clock.ts'

/** The state of one key under one limit. */
export class Count {
  readonly limit: Limit
  state: State | undefined

  constructor(limit: Limit, state?: State) {
    this.limit = limit
    this.state = state
  }

  take(cost: number, now: Millis): LazyVerdict {
    const taken = take(this.limit, this.state, cost, now)
    if (cost > 0 && (taken.allowed || this.#movedBack(taken.next))) this.state = taken.next
    return taken
  }

  peek(cost: number, now: Millis): LazyVerdict {
    const state = this.state ?? take(this.limit, undefined, 0, now).next
    return peekBy(algorithmOf(this.limit), this.limit, { ...state }, cost, now)
  }

  refund(cost: number, now: Millis, takenAt: Millis = now): void {
    if (this.state === undefined) return
    const algorithm = algorithmOf(this.limit)
    const left = { ...this.state }
    algorithm.take(this.limit, left, 0, now)
    algorithm.refund(this.limit, left, cost, now, takenAt)
    this.state = algorithm.fullAt(this.limit, left, now) <= now ? undefined : left
  }

  /** The same count at the same point, to go another way from there. */
  branch(): Count {
    return new Count(this.limit, this.state)
  }

  /** The clock was set back by more than a window and the state moved with it: the one thing a refusal keeps. */
  #movedBack(next: State): boolean {
    return this.state !== undefined && next.at < this.state.at
  }
}

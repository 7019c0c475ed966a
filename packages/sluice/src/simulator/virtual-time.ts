// Time that passes from event to event: a clock, timers, and everything that happens later, in one order.
import type { Clock, Millis } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'

interface Happening {
  readonly at: number
  /** Events of one instant happen in the order in which they were made. */
  readonly order: number
  run: (() => void) | null
}

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
    push(this.heap, happening)
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
      pop(this.heap)
      if (next.run === null) continue
      this.now = next.at
      next.run()
    }
    this.now = end
  }
}

function isBefore(a: Happening, b: Happening): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

function push(heap: Happening[], happening: Happening): void {
  let i = heap.push(happening) - 1
  while (i > 0) {
    const parent = (i - 1) >> 1
    if (!isBefore(happening, heap[parent]!)) break
    heap[i] = heap[parent]!
    i = parent
  }
  heap[i] = happening
}

function pop(heap: Happening[]): void {
  const last = heap.pop()!
  if (heap.length === 0) return
  let i = 0
  for (;;) {
    let child = 2 * i + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1
    if (!isBefore(heap[child]!, last)) break
    heap[i] = heap[child]!
    i = child
  }
  heap[i] = last
}

// Settlements that the store could not take: tried again until it does, so that what was spent is charged.
import { SluiceError } from '../errors.ts'
import type { Exchanged, Settlement } from '../stores/holds/hold-store.ts'
import { isPromise, type MaybePromise } from '../stores/store.ts'
import { systemClock, type Millis } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'

/** Milliseconds between two attempts. */
const INTERVAL = 500
/** Settlements that wait at most; beyond, the oldest is given up, and its hold ends by itself. */
const MAX_WAITING = 10_000
/** Milliseconds for which one is tried: after that the store would not know its hold any more. */
const MAX_WAIT = 600_000

interface Waiting {
  readonly settlements: readonly Settlement[]
  readonly until: Millis
}

/** Whether the store may take the same settlement later. */
export function isTransient(error: unknown): boolean {
  return error instanceof SluiceError && error.transient
}

/** Settlements on their way to a store that was unreachable. A repeated one charges nothing. */
export class PendingSettlements {
  private readonly waiting = new Map<string, Waiting>()
  private readonly send: (settlements: readonly Settlement[]) => MaybePromise<Exchanged>
  private readonly timers: Timers
  private timer: unknown

  constructor(
    send: (settlements: readonly Settlement[]) => MaybePromise<Exchanged>,
    timers: Timers,
  ) {
    this.send = send
    this.timers = timers
  }

  /** How many wait. */
  get size(): number {
    return this.waiting.size
  }

  add(hold: string, settlements: readonly Settlement[]): void {
    this.waiting.set(hold, { settlements, until: systemClock() + MAX_WAIT })
    if (this.waiting.size > MAX_WAITING) this.waiting.delete(this.waiting.keys().next().value!)
    this.timer ??= this.timers.start(this.run, INTERVAL)
  }

  close(): void {
    this.timers.stop(this.timer)
    this.timer = undefined
    this.waiting.clear()
  }

  private readonly run = (): void => {
    void this.sendAll()
  }

  private async sendAll(): Promise<void> {
    for (const [hold, { settlements, until }] of this.waiting) {
      try {
        const done = this.send(settlements)
        if (isPromise(done)) await done
        this.waiting.delete(hold)
      } catch (error) {
        if (!isTransient(error) || systemClock() >= until) this.waiting.delete(hold)
        // The store is still unreachable: the others wait too.
        else break
      }
    }
    this.timer = this.waiting.size > 0 ? this.timers.start(this.run, INTERVAL) : undefined
  }
}

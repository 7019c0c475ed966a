// Renews all slots of a budget by one timer, so that only a crash or a lost store lets one end.
import type { Exchanged, Settlement } from '../stores/holds/hold-store.ts'
import { isPromise, type MaybePromise } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'

/** A slot is renewed so many times within its hold: two renewals may fail. */
const RENEWALS_PER_HOLD = 3
/** Settlements in one call. */
const MAX_AT_ONCE = 100

type Renewal = readonly Settlement[]

/** The slots that are entered. The timer runs while there is one. */
export class SlotRenewals {
  /** By the id of their holds. */
  private readonly slots = new Map<string, Renewal>()
  private readonly renew: (settlements: readonly Settlement[]) => MaybePromise<Exchanged>
  private readonly timers: Timers
  private readonly interval: Millis
  private timer: unknown

  constructor(
    renew: (settlements: readonly Settlement[]) => MaybePromise<Exchanged>,
    timers: Timers,
    shortestHold: Millis,
  ) {
    this.renew = renew
    this.timers = timers
    this.interval = Math.max(1, Math.floor(shortestHold / RENEWALS_PER_HOLD))
  }

  /** Renews a slot until it is removed. */
  add(hold: string, renewal: Renewal): void {
    this.slots.set(hold, renewal)
    this.timer ??= this.timers.start(this.run, this.interval)
  }

  /** Ends the renewal of a slot, if there is one. */
  remove(hold: string): void {
    this.slots.delete(hold)
  }

  close(): void {
    this.slots.clear()
    this.timers.stop(this.timer)
    this.timer = undefined
  }

  private readonly run = (): void => {
    this.timer = undefined
    if (this.slots.size === 0) return
    this.timer = this.timers.start(this.run, this.interval)
    const all = [...this.slots.values()].flat()
    for (let first = 0; first < all.length; first += MAX_AT_ONCE) {
      const done = this.renew(all.slice(first, first + MAX_AT_ONCE))
      // The next renewal comes before the end.
      if (isPromise(done)) done.catch(() => {})
    }
  }
}

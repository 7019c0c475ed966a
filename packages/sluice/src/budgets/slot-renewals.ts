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
  private readonly slots = new Set<Renewal>()
  /** Slots that the caller renews. */
  private readonly others = new WeakSet<Renewal>()
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

  /** Adds a slot; one that is not renewed is only known until it is left. */
  add(renewal: Renewal, isRenewed: boolean): Renewal {
    if (!isRenewed) {
      this.others.add(renewal)
      return renewal
    }
    this.slots.add(renewal)
    this.timer ??= this.timers.start(this.run, this.interval)
    return renewal
  }

  /** False if it was removed before. */
  remove(renewal: Renewal): boolean {
    return this.slots.delete(renewal) || this.others.delete(renewal)
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
    const all = [...this.slots].flat()
    for (let first = 0; first < all.length; first += MAX_AT_ONCE) {
      const done = this.renew(all.slice(first, first + MAX_AT_ONCE))
      // The next renewal comes before the end.
      if (isPromise(done)) done.catch(() => {})
    }
  }
}

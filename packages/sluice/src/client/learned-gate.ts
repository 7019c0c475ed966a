// Lets requests pass at a learned rate, evenly spaced.
import type { Clock, Millis } from '../time/clock.ts'
import type { LearnedRate } from './learned-rate.ts'
import type { Gate, Passage } from './gate.ts'

/** A gate whose rate changes. */
export interface LearnedGate extends Gate {
  /** Whether anybody was held back since the last call. */
  wasBusy(): boolean
  /** Takes note of a new rate; true when those who wait should ask again. */
  adjust(): boolean
}

/** How much later than planned a request may go without pushing back those behind it: timers are late by this. */
const TOLERANCE: Millis = 20

/** Spaces requests by the rate; what was lost to a late timer may be caught up, what was lost to idleness may not. */
export function learnedGate(rate: LearnedRate, clock: Clock): LearnedGate {
  let due: Millis = 0
  let spacing = 1 / rate.perMillis
  let closedUntil = rate.closedUntil
  let isBusy = false
  return {
    take(cost): Passage {
      const now = clock()
      const earliest = Math.max(due - TOLERANCE, rate.closedUntil)
      if (earliest > now) {
        isBusy = true
        return { allowed: false, remaining: 0, retryAfter: Math.ceil(earliest - now), at: now }
      }
      due = Math.max(due, now) + cost / rate.perMillis
      return { allowed: true, remaining: 0, retryAfter: 0, at: now }
    },
    refund: () => {},
    // A rate that may rise promises nothing.
    leastWait: () => 0,
    wasBusy() {
      const was = isBusy
      isBusy = false
      return was
    },
    adjust() {
      const next = 1 / rate.perMillis
      const isSooner = next < spacing || rate.closedUntil < closedUntil
      // Nobody waits longer for a turn than the present rate says.
      due = Math.min(due, clock() + next + TOLERANCE)
      spacing = next
      closedUntil = rate.closedUntil
      return isSooner
    },
  }
}

// A gate that lets requests pass at the learned rate, evenly spaced.
import type { Clock, Millis } from '../time/clock.ts'
import type { LearnedRate } from './learned-rate.ts'
import type { Gate, GateAnswer } from './gate.ts'

/** A gate whose rate may change. */
export interface LearnedGate extends Gate {
  /** Whether a request was held back since the last call of this method. */
  wasBusy(): boolean
  /** Applies a new rate; returns true if waiting requests may pass earlier than planned. */
  adjust(): boolean
}

/** How late a request may start without delaying the ones behind it; timers fire late by up to this. */
const TOLERANCE: Millis = 20

/** Spaces requests by the rate. Time lost to a late timer is caught up; idle time is not. */
export function learnedGate(rate: LearnedRate, clock: Clock): LearnedGate {
  let due: Millis = 0
  let spacing = 1 / rate.perMillis
  let closedUntil = rate.closedUntil
  let isBusy = false
  return {
    take(cost): GateAnswer {
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
    // The rate may rise, so no bound is known.
    leastWait: () => 0,
    wasBusy() {
      const was = isBusy
      isBusy = false
      return was
    },
    adjust() {
      const next = 1 / rate.perMillis
      const isSooner = next < spacing || rate.closedUntil < closedUntil
      // No request waits longer than the present rate requires.
      due = Math.min(due, clock() + next + TOLERANCE)
      spacing = next
      closedUntil = rate.closedUntil
      return isSooner
    },
  }
}

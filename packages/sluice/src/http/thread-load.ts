// How busy the thread of a server is: the part of its time in which its event loop had something to do, and how late it is.
import type { Millis } from '../time/clock.ts'

/** The span over which the busy part is averaged. */
const AVERAGE_OVER: Millis = 100
/** The busy part from which on the thread is full: then requests wait for it, and not only for something else. */
const FULL_SHARE = 0.9
/**
 * A full thread counts as full until it was less busy than this for so long: else each moment in which shedding has helped
 * would let in a crowd.
 */
const STAYS_FULL_SHARE = 0.75
const FULL_FOR: Millis = 500
/** The busy part of the last interval below which requests that were under way all the time did not wait for the thread. */
const SPARE_SHARE = 0.7

/** The thread as it was in the last sample, some 20 ms ago at most. */
export class ThreadLoad {
  /** How late the event loop is. */
  delay: Millis = 0
  /** The part of the last 100 ms or so in which the thread was busy, from 0 to 1. */
  busy = 0
  /** The sum of the busy time so far. */
  busyTime: Millis
  private lastBusy = 0
  private sampledAt: Millis
  private fullUntil: Millis = -Infinity

  constructor(now: Millis, busyTime: Millis) {
    this.sampledAt = now
    this.busyTime = busyTime
  }

  /** Whether the thread has no time to spare: only then can fewer requests make the server faster. */
  get isFull(): boolean {
    return this.sampledAt < this.fullUntil
  }

  /** Whether the thread waited for input for a good part of the last interval. */
  get hadSpareTime(): boolean {
    return this.lastBusy < SPARE_SHARE
  }

  /** Notes how late the timer of a sample ran, and how long the thread was busy so far. */
  noteSample(now: Millis, delay: Millis, busyTime: Millis): void {
    // Up at once, down slowly: one good turn does not end an overload.
    this.delay = Math.max(delay, this.delay * 0.8)
    const passed = now - this.sampledAt
    if (passed <= 0) return
    this.lastBusy = Math.min(1, Math.max(0, (busyTime - this.busyTime) / passed))
    const weight = Math.exp(-passed / AVERAGE_OVER)
    this.busy = this.busy * weight + this.lastBusy * (1 - weight)
    if (this.busy >= (this.isFull ? STAYS_FULL_SHARE : FULL_SHARE)) this.fullUntil = now + FULL_FOR
    this.busyTime = busyTime
    this.sampledAt = now
  }
}

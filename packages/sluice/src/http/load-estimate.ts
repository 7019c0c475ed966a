// How loaded a server is: requests under way against what it can hold, while its thread is full, and the delay of its event loop.
import type { Millis } from '../time/clock.ts'
import { ThreadLoad } from './thread-load.ts'

/** Requests under way that are never too many: of a server that was seen to be full, and of one that was not. */
const LEAST_ROOM = 4
const LEAST_ROOM_NEVER_FULL = 64
/** How long one measurement of throughput and latency lasts. */
const SPAN: Millis = 100
/** Spans after which the best latency, the highest throughput and the requests that wait elsewhere are half forgotten. */
const MEMORY = 300
/** What is left of a number after 20 ms at that pace. */
const SAMPLE_DECAY = 0.5 ** (20 / SPAN / MEMORY)
/** Latency at which a server still works well, as a multiple of its best. */
const LATENCY_FACTOR = 2
/** What a request may have waited before it is let in, as a multiple of the best latency: critical ones come on top. */
const PATIENCE = 1.5
/**
 * The part of the best latency that deferred requests may keep the thread busy before another one begins: critical ones
 * that come meanwhile wait for them.
 */
const DEFERRED_SHARE = 0.5
/** A wait that is never too long. */
const LEAST_WAIT: Millis = 1
/** Between two turns of the event loop: after more than this it was idle, and requests of the next turn have not waited. */
const IDLE: Millis = 0.5
/** The span over which the demand on the server is measured. */
const DEMAND_SPAN: Millis = 500
/** The demand on one thread, as a part of its time, above which queues keep growing; 15 % allow for chance. */
const OVERLOAD = 1.15
/** The demand of requests that were all admitted above which they may be too many; admitted work never shows more. */
const SATURATION = 0.9

/**
 * By Little's law, a server that answers `throughput` requests per millisecond, each within `latency`, has throughput ×
 * latency of them under way. More than that only wait. The room is the highest throughput that was measured, times twice
 * the best latency: what is measured under overload cannot raise it, so it has a bound.
 *
 * It bounds the requests under way only while the thread is full. Requests of a thread with time to spare wait for
 * something else, such as a database, and fewer of them would make nothing faster.
 */
export class LoadEstimate {
  /** Requests under way. */
  inFlight = 0
  private readonly loopTarget: Millis
  private readonly thread: ThreadLoad
  private spanStart: Millis
  private answered = 0
  private time = 0
  private throughput = 0
  private latency = Infinity
  /** Whether a full thread has answered slower than it can: until then the highest throughput is only what was demanded. */
  private wasFull = false
  /** When this turn of the event loop began, at its first request; NaN between turns. */
  private turnStart: Millis = NaN
  private turnEnd: Millis = -Infinity
  private lastTurn: Millis = 0
  /** When the deferred requests of this turn began: those that waited until its critical ones were handled. */
  private deferredStart: Millis = NaN
  private inFlightBefore = 0
  /** Requests of the present span, also those that were shed, and the critical ones of them. */
  private arrived = 0
  private arrivedCritical = 0
  private demandStart: Millis
  private answeredOfDemand = 0
  private busyTimeBefore: Millis
  /** The share of the last span's time that its requests took of the thread, and the share of the critical ones. */
  private demand = 0
  private criticalDemand = 0
  private inFlightAtSample = 0
  /** Requests that were under way while the thread had time to spare: they wait for something else. */
  private waitElsewhere = 0

  constructor(now: Millis, loopTarget: Millis, busyTime: Millis) {
    this.thread = new ThreadLoad(now, busyTime)
    this.busyTimeBefore = busyTime
    this.spanStart = now
    this.demandStart = now
    this.loopTarget = loopTarget
  }

  /** Notes a request. True if it is the first of its turn: then {@link endTurn} is due after the turn. */
  noteArrival(now: Millis, isCritical = false): boolean {
    this.arrived += 1
    if (isCritical) this.arrivedCritical += 1
    if (now - this.demandStart >= DEMAND_SPAN) this.endDemandSpan(now)
    if (this.turnStart === this.turnStart) return false
    if (now - this.turnEnd > IDLE) this.lastTurn = 0
    this.turnStart = now
    return true
  }

  /** Whether requests arrive faster than the server can handle them, so that they wait for each other. */
  get isOverloaded(): boolean {
    return this.demand >= OVERLOAD && this.thread.isFull
  }

  /** Notes that the deferred requests of this turn begin: its critical ones have been handled. */
  startDeferred(now: Millis): void {
    this.deferredStart = now
    this.inFlightBefore = this.inFlight
  }

  /** Notes that the input of a turn has been handled. */
  endTurn(now: Millis): void {
    this.lastTurn = now - this.turnStart
    this.turnStart = NaN
    this.turnEnd = now
  }

  /** Notes an answer that took so long. */
  noteAnswer(took: Millis, now: Millis): void {
    this.inFlight -= 1
    this.answered += 1
    this.answeredOfDemand += 1
    this.time += took
    if (now - this.spanStart >= SPAN) this.endSpan(now)
  }

  /** Notes how late the event loop ran a timer of 20 ms, and how long it was busy so far. */
  noteSample(now: Millis, delay: Millis, busyTime: Millis): void {
    this.thread.noteSample(now, delay, busyTime)
    // Only those of both samples: a burst that came in between may still need the thread.
    const waiting = this.thread.hadSpareTime ? Math.min(this.inFlight, this.inFlightAtSample) : 0
    this.waitElsewhere = Math.max(waiting, this.waitElsewhere * SAMPLE_DECAY)
    this.inFlightAtSample = this.inFlight
  }

  /** The part of the last 100 ms or so in which the thread was busy, from 0 to 1. */
  get busy(): number {
    return this.thread.busy
  }

  /** Requests that the server can have under way while its thread is full; Infinity until it was measured. */
  get room(): number {
    if (this.throughput === 0 || this.latency === Infinity) return Infinity
    const least = this.wasFull ? LEAST_ROOM : LEAST_ROOM_NEVER_FULL
    const byLittlesLaw = Math.ceil(this.throughput * this.latency * LATENCY_FACTOR)
    return Math.max(least + Math.floor(this.waitElsewhere), byLittlesLaw)
  }

  /** How full the server is: 1 is full. */
  get pressure(): number {
    return Math.max(this.crowding, this.thread.delay / this.loopTarget)
  }

  /** The requests under way as a part of the room, while the thread is full. */
  private get crowding(): number {
    return this.thread.isFull ? this.inFlight / this.room : 0
  }

  /**
   * How full the server is for a request of this turn, which may have waited for it. While critical requests alone do not
   * fill the time of the server, only requests under way count for them: what they waited for, such as another process on the
   * same core or the others of their turn, is over, and to shed them would make nothing faster.
   */
  pressureAt(now: Millis, isCritical = false): number {
    if (isCritical && this.criticalDemand < SATURATION) return this.crowding
    const { pressure } = this
    if (!this.isOverloaded) return pressure
    const waited = this.lastTurn + now - this.turnStart
    return Math.max(pressure, waited / Math.max(LEAST_WAIT, PATIENCE * this.latency))
  }

  /** How full the server is for a deferred request, which waited until the critical ones of its turn were handled. */
  pressureOfDeferred(now: Millis): number {
    const least = Math.max(LEAST_WAIT, this.latency)
    const waited = (this.lastTurn + now - this.turnStart) / PATIENCE
    // Handlers that wait for something else than the thread leave more requests under way, which have their own bound.
    const isBusy = this.inFlight <= this.inFlightBefore
    const taken = isBusy ? (now - this.deferredStart) / DEFERRED_SHARE : 0
    return Math.max(this.pressure, waited / least, taken / least)
  }

  private endDemandSpan(now: Millis): void {
    const latency = this.latency === Infinity ? 0 : this.latency
    const span = now - this.demandStart
    // Part of a latency may be a wait for something else: a request takes no more of the thread than its share of the busy time.
    const { busyTime } = this.thread
    const share = (busyTime - this.busyTimeBefore) / this.answeredOfDemand
    const work = this.answeredOfDemand === 0 ? latency : Math.min(latency, share)
    this.demand = (this.arrived * work) / span
    this.criticalDemand = (this.arrivedCritical * work) / span
    this.busyTimeBefore = busyTime
    this.answeredOfDemand = 0
    this.arrived = 0
    this.arrivedCritical = 0
    this.demandStart = now
  }

  private endSpan(now: Millis): void {
    const span = now - this.spanStart
    const rate = this.answered / span
    const mean = this.time / this.answered
    const forget = 0.5 ** (span / SPAN / MEMORY)
    const isSlow = mean >= LATENCY_FACTOR * this.latency && this.answered >= LEAST_ROOM
    if (isSlow && this.thread.isFull) this.wasFull = true
    this.throughput = Math.max(rate, this.throughput * forget)
    this.latency = Math.min(mean, this.latency / forget)
    this.spanStart = now
    this.answered = 0
    this.time = 0
  }
}

// Collects the requests of one event-loop turn, so that they are sent to a server in few batches.
import type { Millis } from './clock.ts'
import { systemTimers, type Timers } from './timers.ts'

/** How batches are made and sent. */
export interface TurnBatchesOptions<K, B> {
  readonly make: (key: K) => B
  /** Whether a batch has room for a request of this size. */
  readonly hasRoom: (batch: B, size: number) => boolean
  readonly send: (batch: B) => void
  /** Whether each batch waits for the end of its turn, also while nothing is in flight. */
  readonly waitsForTurn?: boolean
  /** With so many in flight, another one waits for {@link TurnBatches.release}, unless it is full. Default: no limit. */
  readonly maxInFlight?: number
  /** How long it waits at most. */
  readonly holdFor?: Millis
  /** Default: the runtime's own. */
  readonly timers?: Timers | undefined
}

/** A resolved promise: `queueMicrotask` of Node makes an object and a scope for each call, `then` does not. */
const RESOLVED = Promise.resolve()

/**
 * Batches by key. While nothing is in flight, a batch is sent as soon as the running function has ended, so that a single
 * request does not wait. Otherwise it is sent at the end of the turn. Batches of one key are sent in order.
 */
export class TurnBatches<K, B> {
  /** Batches that have not been answered. The owner counts them. */
  inFlight = 0
  private readonly options: TurnBatchesOptions<K, B>
  private readonly hasRoom: (batch: B, size: number) => boolean
  private readonly maxInFlight: number
  private readonly timers: Timers
  /**
   * The first key of the turn, mostly the only one, and the others. Not one Map that is cleared: V8 links the table of a
   * cleared Map to the next one, so that batches long answered survive many collections.
   */
  private firstKey: K | undefined
  private first: B | undefined
  private others: Map<K, B> | undefined
  private isScheduled = false
  /** Runs while a batch is held. */
  private holdTimer: unknown

  constructor(options: TurnBatchesOptions<K, B>) {
    this.options = options
    this.hasRoom = options.hasRoom
    this.maxInFlight = options.maxInFlight ?? Infinity
    this.timers = options.timers ?? systemTimers
  }

  /** The batch of this turn for a key, with room for a request of this size. A full one is sent at once. */
  batchFor(key: K, size: number): B {
    const { first, options } = this
    const isFirst = first === undefined || key === this.firstKey
    const open = isFirst ? first : this.others?.get(key)
    if (open !== undefined) {
      if (this.hasRoom(open, size)) return open
      options.send(open)
    }
    const batch = options.make(key)
    if (isFirst) {
      this.firstKey = key
      this.first = batch
    } else (this.others ??= new Map<K, B>()).set(key, batch)
    if (this.isScheduled) return batch
    if (this.inFlight >= this.maxInFlight) {
      this.holdTimer ??= this.timers.start(this.flush, options.holdFor ?? 0)
      return batch
    }
    this.isScheduled = true
    if (this.inFlight > 0 || options.waitsForTurn === true) this.timers.afterTurn(this.flush)
    else void RESOLVED.then(this.flush)
    return batch
  }

  /** Sends what was held. To be called whenever a batch was answered. */
  release(): void {
    if (!this.isScheduled && this.inFlight < this.maxInFlight) this.flush()
  }

  private readonly flush = (): void => {
    const { first, others } = this
    if (this.holdTimer !== undefined) this.timers.stop(this.holdTimer)
    this.holdTimer = undefined
    this.isScheduled = false
    this.first = undefined
    this.others = undefined
    if (first !== undefined) this.options.send(first)
    if (others !== undefined) for (const batch of others.values()) this.options.send(batch)
  }
}

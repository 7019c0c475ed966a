// Collects the requests of one event-loop turn, so that they are sent to a server in few batches.
import type { Millis } from './clock.ts'
import { systemTimers, type Timers } from './timers.ts'

/** How batches are made and sent. */
export interface TurnBatchesOptions<B> {
  readonly make: () => B
  /** Whether a batch has room for a request of this size. */
  readonly hasRoom: (batch: B, size: number) => boolean
  readonly send: (batch: B) => void
  /** Whether a batch is in flight. */
  readonly isBusy: () => boolean
  /** Whether so many are in flight that another one waits for {@link TurnBatches.release}, unless it is full. Default: never. */
  readonly isHeld?: () => boolean
  /** How long it waits at most. */
  readonly holdFor?: Millis
  /** Default: the runtime's own. */
  readonly timers?: Timers | undefined
}

/** A resolved promise: `queueMicrotask` of Node makes an object and a scope for each call, `then` does not. */
const NOW = Promise.resolve()

/**
 * Batches by key. While nothing is in flight, a batch is sent as soon as the running function has ended, so that a single
 * request does not wait. Otherwise it is sent at the end of the turn. Batches of one key are sent in order.
 */
export class TurnBatches<K, B> {
  private readonly options: TurnBatchesOptions<B>
  private readonly hasRoom: (batch: B, size: number) => boolean
  /**
   * The first key of the turn, mostly the only one, and the others. Not one Map that is cleared: V8 links the table of a
   * cleared Map to the next one, so that batches long answered survive many collections.
   */
  private firstKey: K | undefined
  private first: B | undefined
  private others: Map<K, B> | undefined
  /** Consecutive requests usually have one key. */
  private lastKey: K | undefined
  private last: B | undefined
  private isScheduled = false
  private readonly timers: Timers
  /** Runs while a batch is held. */
  private holdTimer: unknown

  constructor(options: TurnBatchesOptions<B>) {
    this.options = options
    this.hasRoom = options.hasRoom
    this.timers = options.timers ?? systemTimers
  }

  /** The batch of this turn for a key, with room for a request of this size. A full one is sent at once. */
  batchFor(key: K, size: number): B {
    const { last } = this
    if (last !== undefined && key === this.lastKey && this.hasRoom(last, size)) return last
    this.lastKey = key
    return (this.last = this.openBatch(key, size))
  }

  private openBatch(key: K, size: number): B {
    const isFirst = this.first === undefined || key === this.firstKey
    const open = isFirst ? this.first : this.others?.get(key)
    if (open !== undefined) {
      if (this.hasRoom(open, size)) return open
      this.options.send(open)
    }
    const batch = this.options.make()
    if (isFirst) {
      this.firstKey = key
      this.first = batch
    } else (this.others ??= new Map<K, B>()).set(key, batch)
    if (this.isScheduled) return batch
    if (this.options.isHeld?.() === true) {
      this.holdTimer ??= this.timers.start(this.flush, this.options.holdFor ?? 0)
      return batch
    }
    this.isScheduled = true
    if (this.options.isBusy()) this.timers.afterTurn(this.flush)
    else void NOW.then(this.flush)
    return batch
  }

  /** Sends what was held. To be called whenever a batch was answered. */
  release(): void {
    if (!this.isScheduled && this.options.isHeld?.() !== true) this.flush()
  }

  private readonly flush = (): void => {
    const { first, others } = this
    if (this.holdTimer !== undefined) this.timers.stop(this.holdTimer)
    this.holdTimer = undefined
    this.isScheduled = false
    this.first = undefined
    this.others = undefined
    this.last = undefined
    if (first !== undefined) this.options.send(first)
    if (others !== undefined) for (const batch of others.values()) this.options.send(batch)
  }
}

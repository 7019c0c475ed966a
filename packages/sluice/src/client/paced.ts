// Waits for its turn: a limiter for those who send, on any store.
import { show, SluiceError } from '../errors.ts'
import { limit as limitOf, type Limit, type LimitInput } from '../limit/limit.ts'
import { keyOf } from '../key/key.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Store } from '../stores/store.ts'
import type { Duration } from '../time/duration.ts'
import { onAbort } from './abort-groups.ts'
import { OptionReader } from '../options/option-reader.ts'
import { Queue } from './queue.ts'
import { storeGate } from './store-gate.ts'
import { systemTimers, type Timers } from './timers.ts'

/** How a pacer may differ from its defaults. */
export interface PacedOptions {
  /** Longest wait for a turn; what cannot be served within it is rejected at once. Default 1 minute. */
  readonly maxWait?: Duration
  /** Most who wait at once. Default 10,000. */
  readonly maxQueue?: number
  /** Ends the pacer: everybody who waits, or comes later, is rejected with its reason. */
  readonly signal?: AbortSignal
  /** Where the units are counted. A remote store makes a fleet share one budget. Default: this process's memory. */
  readonly store?: Store
  /** Names the budget within the store. Default `default`. */
  readonly key?: string
  /** For tests. Default: the runtime's. */
  readonly timers?: Timers
}

/** What a wrapped function says of each call. */
export interface WrapOptions<A extends unknown[]> {
  readonly cost?: number | ((...args: A) => number)
  /** Which signal ends a call's wait. */
  readonly signal?: (...args: A) => AbortSignal | null | undefined
}

/** Hands out turns, first come first served. */
export interface Paced {
  /** Resolves when it is this call's turn. Rejects with `wait-too-long`, `queue-full` or the signal's reason. */
  take(cost?: number, options?: { readonly signal?: AbortSignal | null | undefined }): Promise<void>
  /** The function, waiting for its turn before each call. */
  wrap<A extends unknown[], R>(
    call: (...args: A) => R,
    options?: WrapOptions<A>,
  ): (...args: A) => Promise<Awaited<R>>
  /** How many wait. */
  readonly waiting: number
  /** Rejects everybody who waits; closes the store if the pacer made it. */
  close(): void
}

const OPTIONS = ['maxWait', 'maxQueue', 'signal', 'store', 'key', 'timers']

/**
 * A client-side limiter that never sends what would be refused: calls wait for their turn, in order, whatever
 * they cost. One timer serves all that wait, and whoever gives up leaves nothing behind.
 */
export function paced(limit: LimitInput, options: PacedOptions = {}): Paced {
  const reader = new OptionReader('paced', options, OPTIONS)
  const made = limitOf(limit)
  if (made.algorithm === 'leaky-bucket' || made.quota === 0) {
    const accepted = 'a limit that allows something, by any algorithm but leaky-bucket'
    reader.wrong('limit', limit, `${accepted}: waiting for a turn is what paced does itself`)
  }
  const maxWait = reader.duration('maxWait', options.maxWait, 60_000)
  const maxQueue = reader.number('maxQueue', options.maxQueue, 10_000, { least: 1, whole: true })
  reader.shaped('timers', options.timers, ['clock', 'wall', 'set', 'clear'])
  reader.shaped('store', options.store, ['take', 'refund'])
  const { key = 'default', signal, timers = systemTimers } = options
  if (typeof key !== 'string' || key === '') reader.wrong('key', key, 'text that is not empty')
  const store = options.store ?? memoryStore({ clock: timers.clock, maxKeys: 1 })
  const gate = storeGate(store, made, keyOf([key]))
  return new Pacer(new Queue(gate, { maxWait, maxQueue, timers }), made, signal, () => {
    if (options.store === undefined) void store.close()
  })
}

class Pacer implements Paced {
  private readonly queue: Queue
  private readonly limit: Limit
  private readonly end: () => void
  /** A signal that lives on must not keep a pacer that has ended. */
  private readonly forget: () => void
  private ended: { readonly reason: unknown } | undefined

  constructor(queue: Queue, limit: Limit, signal: AbortSignal | undefined, end: () => void) {
    this.queue = queue
    this.limit = limit
    this.end = end
    this.forget = onAbort(signal, () => this.finish(signal?.reason))
    if (signal?.aborted) this.finish(signal.reason)
  }

  get waiting(): number {
    return this.queue.size
  }

  async take(
    cost = 1,
    { signal }: { signal?: AbortSignal | null | undefined } = {},
  ): Promise<void> {
    if (this.ended !== undefined) throw this.ended.reason
    const { burst } = this.limit
    if (!Number.isSafeInteger(cost) || cost < 0 || cost > burst) {
      throw new SluiceError(
        'invalid-cost',
        `cost is ${show(cost)}; accepted: whole units from 0 to ${burst}, the most that the limit allows at once`,
      )
    }
    return this.queue.take(cost, signal ?? undefined)
  }

  wrap<A extends unknown[], R>(
    call: (...args: A) => R,
    { cost = 1, signal }: WrapOptions<A> = {},
  ): (...args: A) => Promise<Awaited<R>> {
    return async (...args: A): Promise<Awaited<R>> => {
      const units = typeof cost === 'function' ? cost(...args) : cost
      await this.take(units, { signal: signal?.(...args) })
      return await call(...args)
    }
  }

  close(): void {
    this.finish(new SluiceError('limiter-closed', 'the pacer is closed; make a new one'))
  }

  private finish(reason: unknown): void {
    if (this.ended !== undefined) return
    this.ended = { reason }
    this.forget()
    this.queue.clear(reason)
    this.end()
  }
}

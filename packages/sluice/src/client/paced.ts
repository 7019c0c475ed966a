// A client-side limiter: each call waits for its turn, counted in any store.
import { show, SluiceError } from '../errors.ts'
import { limit as limitOf, type Limit, type LimitInput } from '../limit/limit.ts'
import { keyOf } from '../key/key.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Store } from '../stores/store.ts'
import type { Duration } from '../time/duration.ts'
import { onAbort } from './abort-groups.ts'
import { OptionReader, readDuration } from '../options/option-reader.ts'
import { TurnQueue } from './turn-queue.ts'
import { storeGate } from './store-gate.ts'
import { readTimers, type ClientTimers } from './timers.ts'

/**
 * Options of {@link paced}.
 *
 * @example
 * ```ts
 * paced('10/s', { maxWait: '5s', maxQueue: 100 })
 * ```
 */
export interface PacedOptions {
  /** The longest wait for a turn. A call that cannot start within it is rejected at once. Default 1 minute. */
  readonly maxWait?: Duration
  /** How many calls may wait at once. Default 10,000. */
  readonly maxQueue?: number
  /** Ends the pacer: all waiting and later calls reject with the signal's reason. */
  readonly signal?: AbortSignal
  /** Where units are counted. With a remote store, several processes share one budget. Default: this process's memory. */
  readonly store?: Store
  /** Names the budget within the store. Default `default`. */
  readonly key?: string
  /** For tests. Default: the runtime's timers. */
  readonly timers?: ClientTimers
}

/**
 * Options of {@link Paced.wrap}.
 *
 * @example
 * ```ts
 * const options: WrapOptions<[ids: string[]]> = { cost: (ids) => ids.length }
 * const load = paced('100/s').wrap((ids: string[]) => ids, options)
 * ```
 */
export interface WrapOptions<A extends unknown[]> {
  /** The units that each call takes. Default 1. */
  readonly cost?: number | ((...args: A) => number)
  /** Returns the signal that ends a call's wait. */
  readonly signal?: (...args: A) => AbortSignal | null | undefined
}

/**
 * Gives calls their turns, first come first served.
 *
 * @example
 * ```ts
 * const pacer: Paced = paced('10/s')
 * await pacer.take()
 * ```
 */
export interface Paced {
  /** Resolves at this call's turn. Rejects with `wait-too-long`, `queue-full` or the signal's reason. */
  take(cost?: number, options?: { readonly signal?: AbortSignal | null | undefined }): Promise<void>
  /** Wraps a function so that each call waits for its turn. */
  wrap<A extends unknown[], R>(call: (...args: A) => R): (...args: A) => Promise<Awaited<R>>
  wrap<F extends (...args: never[]) => unknown>(
    call: F,
    options: WrapOptions<Parameters<F>>,
  ): (...args: Parameters<F>) => Promise<Awaited<ReturnType<F>>>
  /** How many calls wait. */
  readonly waiting: number
  /** Rejects all waiting calls, and closes the store if the pacer created it. */
  close(): void
}

const OPTIONS = ['maxWait', 'maxQueue', 'signal', 'store', 'key', 'timers']

/**
 * A client-side limiter that keeps calls within a known limit: they wait for their turn, in order, whatever they
 * cost. All waiting calls share one timer, and an aborted call leaves nothing behind.
 *
 * @example
 * ```ts
 * const pacer = paced({ quota: 50, window: '1s', burst: 5 })
 * const send = pacer.wrap(fetch, { signal: (_, init) => init?.signal })
 * const response = await send('https://api.example.com/things')
 * ```
 */
export function paced(limit: LimitInput, options: PacedOptions = {}): Paced {
  const reader = new OptionReader('paced', options, OPTIONS)
  const parsed = limitOf(limit)
  if (parsed.algorithm === 'leaky-bucket' || parsed.quota === 0) {
    const accepted = 'a limit with a quota above 0 and any algorithm but leaky-bucket'
    reader.wrong('limit', limit, `${accepted}, because paced itself delays calls`)
  }
  const maxWait = readDuration(reader, 'maxWait', options.maxWait, 60_000)
  const maxQueue = reader.number('maxQueue', options.maxQueue, 10_000, { least: 1, whole: true })
  const timers = readTimers(reader, options.timers)
  reader.shaped('store', options.store, ['take', 'refund'])
  const { key = 'default', signal } = options
  if (typeof key !== 'string' || key === '') reader.wrong('key', key, 'a string that is not empty')
  const store = options.store ?? memoryStore({ clock: timers.clock, maxKeys: 1 })
  const gate = storeGate(store, parsed, keyOf([key]))
  return new Pacer(new TurnQueue(gate, { maxWait, maxQueue, timers }), parsed, signal, () => {
    if (options.store === undefined) void store.close()
  })
}

class Pacer implements Paced {
  private readonly queue: TurnQueue
  private readonly limit: Limit
  private readonly end: () => void
  /** Removes the listener, so that a long-lived signal does not retain a closed pacer. */
  private readonly forget: () => void
  private ended: { readonly reason: unknown } | undefined

  constructor(queue: TurnQueue, limit: Limit, signal: AbortSignal | undefined, end: () => void) {
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
        `cost is ${show(cost)}; accepted: whole units from 0 to ${burst}, which is the limit's burst`,
      )
    }
    return this.queue.take(cost, signal ?? undefined)
  }

  wrap<F extends (...args: never[]) => unknown>(
    call: F,
    { cost = 1, signal }: WrapOptions<Parameters<F>> = {},
  ): (...args: Parameters<F>) => Promise<Awaited<ReturnType<F>>> {
    return async (...args: Parameters<F>): Promise<Awaited<ReturnType<F>>> => {
      const units = typeof cost === 'function' ? cost(...args) : cost
      await this.take(units, { signal: signal?.(...args) })
      return (await call(...args)) as Awaited<ReturnType<F>>
    }
  }

  close(): void {
    this.finish(new SluiceError('limiter-closed', 'the pacer is closed; create a new one'))
  }

  private finish(reason: unknown): void {
    if (this.ended !== undefined) return
    this.ended = { reason }
    this.forget()
    this.queue.clear(reason)
    this.end()
  }
}

// A resilient store around a store in this process that answers as the test says, at a time of its own.
import type { Decision } from '../src/decision/decision.ts'
import { SluiceError, type ErrorCode } from '../src/errors.ts'
import { createLimiter } from '../src/limiter/create-limiter.ts'
import type { Limiter } from '../src/limiter/limiter.ts'
import type { Attributes } from '../src/policy/policy.ts'
import type { ResilienceEvent } from '../src/resilience/events.ts'
import type { Environment, ResilienceOptions } from '../src/resilience/options.ts'
import { ResilientStore } from '../src/resilience/resilient-store.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import type { MaybePromise, RemoteStore } from '../src/stores/store.ts'
import type { Millis } from '../src/time/clock.ts'
import { VirtualTime } from './simulation/virtual-time.ts'

/** How the store answers: after a while, never, or with an error. */
export type Answer = Millis | 'never' | ErrorCode | 'throws'

const LIMIT = { quota: 10, window: '1h', algorithm: 'fixed-window' } as const

/** A limit of 10 per hour, of which the fallback grants half. */
export class World {
  readonly time = new VirtualTime()
  answer: Answer = 1
  calls = 0
  readonly events: ResilienceEvent[] = []
  /** The limiter without the network between. */
  readonly inner = createLimiter({
    limit: LIMIT,
    store: memoryStore({ clock: this.time.clock }),
  })
  readonly store: ResilientStore
  readonly limiter: Limiter
  readonly remote: RemoteStore

  constructor(
    options: ResilienceOptions = {},
    store: Partial<RemoteStore> = {},
    environment: Partial<Environment> = {},
  ) {
    const counts = memoryStore({ clock: this.time.clock })
    this.inner = createLimiter({ limit: LIMIT, store: counts })
    this.remote = {
      take: (checks) => this.later(() => counts.take(checks)),
      peek: (checks) => this.later(() => counts.peek(checks)),
      refund: (checks) => this.later(() => counts.refund(checks)),
      reset: (checks) => this.later(() => counts.reset(checks)),
      close: () => counts.close(),
      ...store,
    }
    this.store = new ResilientStore(
      this.remote,
      { timeout: 100, onEvent: (event) => void this.events.push(event), ...options },
      { clock: this.time.clock, timers: this.time.timers, random: () => 0.5, ...environment },
    )
    this.limiter = createLimiter({ limit: LIMIT, store: this.store })
  }

  private later<T>(act: () => T): MaybePromise<T> {
    this.calls += 1
    const { answer } = this
    if (answer === 'throws') throw new SluiceError('store-unreachable', 'gone', { transient: true })
    return new Promise((resolve, reject) => {
      if (answer === 'never') return
      if (typeof answer === 'string') return reject(new SluiceError(answer, 'cannot'))
      // It acts half way, as a server does.
      const half = Math.floor(answer / 2)
      this.time.at(this.time.now + half, () => {
        const value = act()
        this.time.at(this.time.now + answer - half, () => resolve(value))
      })
    })
  }

  /** A check, and the time it took. */
  async check(
    attributes: Attributes | string = 'a',
    limiter: Limiter = this.limiter,
  ): Promise<Decision & { took: Millis }> {
    const began = this.time.now
    let result: Decision | undefined
    let error: unknown
    limiter.check(attributes).then(
      (decision) => (result = decision),
      (reason: unknown) => (error = reason),
    )
    await this.time.pass(0)
    while (result === undefined && error === undefined && (await this.time.step())) continue
    if (error !== undefined) throw error as Error
    return Object.assign(result!, { took: this.time.now - began })
  }

  /** Checks one after the other, a millisecond apart. */
  async checks(count: number, key?: string): Promise<Decision[]> {
    const all: Decision[] = []
    for (let i = 0; i < count; i++) {
      await this.time.pass(1)
      all.push(await this.check(key))
    }
    return all
  }

  /** What the fallback still grants to a key of the bare limit. */
  async fallbackRemaining(key: string): Promise<number> {
    const { answer } = this
    this.answer = 'throws'
    const { remaining } = await this.limiter.peek(key)
    this.answer = answer
    return remaining
  }

  types(): string[] {
    return this.events.map(({ type }) => type)
  }
}

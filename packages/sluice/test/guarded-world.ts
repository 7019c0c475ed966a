// A guard around a limiter in this process that answers as it is told, at a time of its own.
import type { Decision } from '../src/decision/decision.ts'
import { SluiceError, type ErrorCode } from '../src/errors.ts'
import { createLimiter } from '../src/limiter/create-limiter.ts'
import type { SyncLimiter } from '../src/limiter/limiter.ts'
import { Breaker } from '../src/resilience/breaker.ts'
import type { ResilienceEvent } from '../src/resilience/events.ts'
import { fallbackOf } from '../src/resilience/fallback.ts'
import { Guard, type Guarded, type GuardParts } from '../src/resilience/guard.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import type { MaybePromise } from '../src/stores/store.ts'
import type { Millis } from '../src/time/clock.ts'
import { VirtualTime } from './simulation/virtual-time.ts'

/** How a store answers: after a while, never, or with an error. */
export type Answer = Millis | 'never' | ErrorCode | 'throws'

/** The guard has a fallback of half its limit. */
export class World {
  readonly time = new VirtualTime()
  answer: Answer = 1
  asked = 0
  readonly events: ResilienceEvent[] = []
  readonly inner = this.limiterOf(10)
  readonly spare = this.limiterOf(5)
  readonly guard: Guard

  constructor(parts: Partial<GuardParts> = {}) {
    const { inner } = this
    const remote: Guarded = {
      check: (...args) => this.later(() => inner.check(...args)),
      peek: (...args) => this.later(() => inner.peek(...args)),
      refund: (...args) => this.later(() => inner.refund(...args)),
      reset: (...args) => this.later(() => inner.reset(...args)),
      close: () => inner.close(),
    }
    this.guard = new Guard(remote, {
      timeout: 100,
      breaker: new Breaker(),
      fallback: fallbackOf(this.spare),
      onEvent: (event) => void this.events.push(event),
      clock: this.time.clock,
      timers: this.time.timers,
      random: () => 0.5,
      ...parts,
    })
  }

  private limiterOf(quota: number): SyncLimiter {
    const store = memoryStore({ clock: this.time.clock })
    return createLimiter({ limit: { quota, window: '1h', algorithm: 'fixed-window' }, store })
  }

  private later<T>(act: () => T): MaybePromise<T> {
    this.asked += 1
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
  async check(key = 'a'): Promise<Decision & { took: Millis }> {
    const began = this.time.now
    let result: Decision | undefined
    let error: unknown
    this.guard.check(key).then(
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

  types(): string[] {
    return this.events.map(({ type }) => type)
  }
}

/** The parts of a world's guard, for another one. */
export function partsOf({ time, spare, events }: World): GuardParts {
  return {
    timeout: 100,
    breaker: new Breaker(),
    fallback: fallbackOf(spare),
    onEvent: (event) => void events.push(event),
    clock: time.clock,
    timers: time.timers,
    random: () => 0.5,
  }
}

// A breaker at work: with the time, with chance, and with somebody who hears of it.
import { SluiceError, type ErrorCode } from '../errors.ts'
import type { Clock } from '../time/clock.ts'
import type { Breaker } from './breaker.ts'
import type { OnEvent, ResilienceEvent } from './events.ts'
import { causeOf } from './failures.ts'
import type { Failure } from './fallback.ts'

/** What a gate works with. */
export interface GateParts {
  readonly breaker: Breaker
  readonly clock: Clock
  readonly random: () => number
  readonly onEvent: OnEvent | undefined
}

/** Lets calls through to the store, or not. */
export class Gate {
  private readonly breaker: Breaker
  private readonly clock: Clock
  private readonly random: () => number
  private readonly onEvent: OnEvent | undefined
  /** Why it opened, or the last probe failed. */
  private cause: ErrorCode = 'store-failed'

  constructor({ breaker, clock, random, onEvent }: GateParts) {
    this.breaker = breaker
    this.clock = clock
    this.random = random
    this.onEvent = onEvent
  }

  get isClosed(): boolean {
    return this.breaker.isClosed
  }

  /** The entry of one call, or NO_ENTRY. Reads no clock while it is closed. */
  enter(): number {
    const { breaker } = this
    if (breaker.isClosed) return breaker.enter(0)
    const { state } = breaker
    const now = this.clock()
    const entry = breaker.enter(now)
    if (breaker.state !== state) this.emit({ type: 'half-open', at: now })
    return entry
  }

  passed(): void {
    if (this.breaker.isClosed) this.breaker.passed()
  }

  succeeded(entry: number): void {
    const { breaker } = this
    const wasClosed = breaker.isClosed
    breaker.succeeded(entry)
    if (wasClosed || !breaker.isClosed) return
    const at = this.clock()
    this.emit({ type: 'closed', at, openFor: at - breaker.openSince })
  }

  failed(entry: number, error: unknown): void {
    const { breaker } = this
    const wasClosed = breaker.isClosed
    const at = this.clock()
    breaker.failed(entry, at, this.random())
    if (breaker.isClosed) return
    this.cause = causeOf(error)
    if (!wasClosed) return
    const nextProbe = breaker.nextProbe(at)
    this.emit({ type: 'opened', at, cause: this.cause, error, nextProbe })
  }

  withdrew(entry: number): void {
    this.breaker.withdrew(entry)
  }

  hint(): void {
    this.breaker.hint(this.clock())
  }

  /** What the stand-in is told: why, and until when. */
  failure(cause: ErrorCode = this.cause): Failure {
    return { cause, retryAfter: this.breaker.nextProbe(this.clock()) }
  }

  /** The error of a call that was not made. */
  notAsked(): SluiceError {
    const { cause, retryAfter } = this.failure()
    return new SluiceError(
      'breaker-open',
      `the store is not asked after ${cause}; next probe in ${retryAfter} ms`,
      { transient: true },
    )
  }

  emit(event: ResilienceEvent): void {
    if (this.onEvent === undefined) return
    try {
      const heard: unknown = this.onEvent(event)
      if (heard instanceof Promise) heard.catch(() => {})
    } catch {
      // A broken listener must not refuse requests.
    }
  }
}

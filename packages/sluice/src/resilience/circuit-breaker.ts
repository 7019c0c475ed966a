// A breaker machine with a clock, random jitter and a listener.
import { SluiceError, type ErrorCode } from '../errors.ts'
import type { Clock, Millis } from '../time/clock.ts'
import type { BreakerMachine } from './breaker-machine.ts'
import type { OnEvent, ResilienceEvent } from './events.ts'
import { causeOf } from './failures.ts'

/** Why a call has no answer, and when the next one may go out. */
export interface Failure {
  readonly cause: ErrorCode
  /** Until the next probe; at least 1. */
  readonly retryAfter: Millis
  /** What a caller without a fallback gets. */
  readonly error: unknown
}

/** What a circuit breaker is made from. */
export interface CircuitBreakerOptions {
  readonly machine: BreakerMachine
  readonly clock: Clock
  /** From 0 to 1, for the jitter of probes. */
  readonly random: () => number
  readonly onEvent: OnEvent | undefined
}

/** Decides for each call whether it goes out. Reads no clock while it is closed. */
export class CircuitBreaker {
  private readonly machine: BreakerMachine
  private readonly clock: Clock
  private readonly random: () => number
  private readonly onEvent: OnEvent | undefined
  /** Why it opened, or why the last probe failed. */
  private cause: ErrorCode = 'store-failed'

  constructor({ machine, clock, random, onEvent }: CircuitBreakerOptions) {
    this.machine = machine
    this.clock = clock
    this.random = random
    this.onEvent = onEvent
  }

  get isClosed(): boolean {
    return this.machine.isClosed
  }

  /** The entry of one call, or NO_ENTRY. */
  enter(): number {
    const { machine } = this
    if (machine.isClosed) return machine.enter(0)
    const { state } = machine
    const now = this.clock()
    const entry = machine.enter(now)
    if (machine.state !== state) this.emit({ type: 'half-open', at: now })
    return entry
  }

  /** A call that entered while the breaker was closed succeeded. */
  passed(): void {
    if (this.machine.isClosed) this.machine.passed()
  }

  succeeded(entry: number): void {
    const { machine } = this
    const wasClosed = machine.isClosed
    machine.succeeded(entry)
    if (wasClosed || !machine.isClosed) return
    const at = this.clock()
    this.emit({ type: 'closed', at, openFor: at - machine.openSince })
  }

  failed(entry: number, error: unknown): void {
    const { machine } = this
    const wasClosed = machine.isClosed
    const at = this.clock()
    machine.failed(entry, at, this.random())
    if (machine.isClosed) return
    this.cause = causeOf(error)
    if (!wasClosed) return
    const nextProbe = machine.nextProbe(at)
    this.emit({ type: 'opened', at, cause: this.cause, error, nextProbe })
  }

  withdrew(entry: number): void {
    this.machine.withdrew(entry)
  }

  hint(): void {
    this.machine.hint(this.clock())
  }

  /** The failure of a call that got an error. */
  failure(error: unknown): Failure {
    return { cause: causeOf(error), retryAfter: this.nextProbe(), error }
  }

  /** The failure of a call that did not go out. */
  refusal(): Failure {
    const { cause } = this
    const retryAfter = this.nextProbe()
    const message = `the breaker is open after ${cause}; next probe in ${retryAfter} ms`
    return {
      cause,
      retryAfter,
      error: new SluiceError('breaker-open', message, { transient: true }),
    }
  }

  emit(event: ResilienceEvent): void {
    if (this.onEvent === undefined) return
    try {
      const result: unknown = this.onEvent(event)
      if (result instanceof Promise) result.catch(() => {})
    } catch {
      // A broken listener must not refuse requests.
    }
  }

  private nextProbe(): Millis {
    return this.machine.nextProbe(this.clock())
  }
}

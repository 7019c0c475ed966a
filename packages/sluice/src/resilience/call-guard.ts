// Deadline and circuit breaker around any call: the resilient store and the remote limiter use the same guard.
import { faultOf, show, SluiceError } from '../errors.ts'
import { mapAnswer, isPromise, type MaybePromise } from '../stores/store.ts'
import type { Clock, Millis } from '../time/clock.ts'
import { Deadlines, type Timers } from '../time/timers.ts'
import { CircuitBreaker, NO_ENTRY, type BreakerOptions, type Failure } from './circuit-breaker.ts'
import type { OnEvent, ResilienceEvent } from './events.ts'

/** What a guard is made from. */
export interface CallGuardOptions {
  /** Milliseconds after which a call is given up; null when the call keeps a deadline itself. */
  readonly timeout: Millis | null
  readonly breaker: BreakerOptions | undefined
  readonly onEvent: OnEvent | undefined
  readonly clock: Clock
  readonly timers: Timers
  /** From 0 to 1, for the jitter of probes. */
  readonly random: () => number
}

/** Produces the answer of a call that failed or did not go out. */
export type OnFailure<T> = (failure: Failure) => MaybePromise<T>

/** Spans that a shard remembers; older ones are forgotten. */
const MAX_SPANS = 64

/** What is known of one shard: its breaker, and the spans of time in which the fallback answered. Instants never go back. */
export class Shard {
  readonly breaker: CircuitBreaker
  /** Whether the fallback answered last. */
  isFallingBack = false
  private readonly spans: { from: Millis; to: Millis }[] = []

  constructor(breaker: CircuitBreaker) {
    this.breaker = breaker
  }

  /** The fallback answered at an instant. */
  noteFallback(at: Millis): void {
    const last = this.spans.at(-1)
    if (this.isFallingBack && last !== undefined) {
      last.to = at
      return
    }
    this.isFallingBack = true
    if (this.spans.push({ from: at, to: at }) > MAX_SPANS) this.spans.shift()
  }

  /** Whether the fallback answered around an instant, so that units are refunded to where they were taken. */
  fellBackAt(at: Millis): boolean {
    return this.spans.some(({ from, to }) => from <= at && at <= to)
  }
}

/** One kind of call. It is made once, so that a call itself allocates next to nothing. */
export interface GuardedOperation<A, T> {
  call(argument: A): MaybePromise<T>
  /** Like `call`, but passes the answer to the guarded call, which saves a promise. */
  callWith?<R>(argument: A, call: GuardedCall<A, T, R>): T | Promise<R>
  /** Answers for a call that failed or did not go out. */
  onFailure(argument: A, failure: Failure, shard: Shard): MaybePromise<T>
  /** Whether a value is an answer; false makes it a failure. */
  accept?(argument: A, value: T): boolean
  /** Receives a value that arrived after the deadline. */
  onLate?(argument: A, value: T): void
}

/** Runs calls. Each shard has a breaker of its own; listeners see them as one. */
export class CallGuard {
  private readonly options: CallGuardOptions
  private readonly deadlines: Deadlines | null
  /** The shard of a store that has only one. */
  readonly firstShard: Shard
  /** Receive every event; another list after a change. What they throw or reject with is dropped. */
  listeners: readonly OnEvent[]
  private readonly otherShards = new Map<number, Shard>()
  private openShards = 0

  constructor(options: CallGuardOptions) {
    const { timeout, clock, timers, onEvent } = options
    this.options = options
    this.listeners = onEvent === undefined ? [] : [onEvent]
    this.deadlines = timeout === null ? null : new Deadlines(timeout, clock, timers, tooLate)
    this.firstShard = this.makeShard()
  }

  /** Whether it gives calls up by itself. */
  get isTimed(): boolean {
    return this.deadlines !== null
  }

  /** A shard by its number. */
  shard(number: number): Shard {
    if (number === 0) return this.firstShard
    let shard = this.otherShards.get(number)
    if (shard === undefined) this.otherShards.set(number, (shard = this.makeShard()))
    return shard
  }

  /**
   * Runs a call, unless the breaker is open: then, and when the call fails or takes too long, `onFailure` answers.
   * Misuse by the caller throws.
   */
  execute<A, T>(shard: Shard, operation: GuardedOperation<A, T>, argument: A): MaybePromise<T> {
    return this.executeWith(shard, operation, argument, identity)
  }

  /** {@link execute} with a function of the answer, which costs less than a second promise around it. */
  executeWith<A, T, R>(
    shard: Shard,
    operation: GuardedOperation<A, T>,
    argument: A,
    finish: (value: T) => R,
  ): MaybePromise<R> {
    const { breaker } = shard
    const entry = breaker.enter()
    if (entry === NO_ENTRY)
      return mapAnswer(operation.onFailure(argument, breaker.refusal(), shard), finish)
    const call = new GuardedCall(shard, operation, argument, finish, entry)
    let answer: T | Promise<R>
    try {
      answer =
        this.deadlines === null && operation.callWith !== undefined
          ? operation.callWith(argument, call)
          : this.answerTo(call, operation, argument)
    } catch (error) {
      return call.failed(error)
    }
    if (isPromise<unknown>(answer)) return answer as Promise<R>
    // Answered from memory: no evidence about the store.
    breaker.cancelled(entry)
    return finish(answer as T)
  }

  /** Makes a call that does not report its own answer to the guard. */
  private answerTo<A, T, R>(
    call: GuardedCall<A, T, R>,
    operation: GuardedOperation<A, T>,
    argument: A,
  ): T | Promise<R> {
    const answer = operation.call(argument)
    if (!isPromise(answer)) return answer
    const passed = (value: T): MaybePromise<R> => call.passed(value)
    const failed = (error: unknown): MaybePromise<R> => call.failed(error)
    if (this.deadlines === null) return answer.then(passed, failed)
    const onLate = (value: T): void => operation.onLate?.(argument, value)
    return this.deadlines.race(answer, onLate, passed, failed)
  }

  /** Runs a call that is never a probe: while the breaker is not closed, `onFailure` answers. */
  async attempt<T>(
    { breaker }: Shard,
    call: () => MaybePromise<T>,
    onFailure: OnFailure<T>,
    accept?: (value: T) => boolean,
  ): Promise<T> {
    if (breaker.state !== 'closed') return onFailure(breaker.refusal())
    try {
      const value = await this.withDeadline(call())
      if (accept !== undefined && !accept(value)) throw wrongAnswer(value)
      return value
    } catch (error) {
      const fault = faultOf(error)
      if (fault === 'caller') throw error
      if (fault === 'store' && breaker.state === 'closed') breaker.failed(breaker.enter(), error)
      return onFailure(breaker.failure(error))
    }
  }

  /** An answer, or a `store-timeout` error after the deadline. */
  withDeadline<T>(answer: MaybePromise<T>): MaybePromise<T> {
    return this.deadlines === null || !isPromise(answer) ? answer : this.deadlines.race(answer)
  }

  /** The store seems to be reachable again: the next call of each shard is its probe. */
  noteReachable(): void {
    this.firstShard.breaker.noteReachable()
    for (const { breaker } of this.otherShards.values()) breaker.noteReachable()
  }

  /** Reports an event. Listeners see one store: it is open from the first shard's opening to the last one's closing. */
  readonly emit = (event: ResilienceEvent): void => {
    if (event.type === 'opened' && this.openShards++ > 0) return
    if (event.type === 'closed' && --this.openShards > 0) return
    for (const listener of this.listeners) {
      // One that fails must not refuse requests, nor keep the event from others.
      try {
        const result: unknown = listener(event)
        if (result instanceof Promise) result.catch(() => {})
      } catch {
        // Dropped, as the contract of `OnEvent` says.
      }
    }
  }

  private makeShard(): Shard {
    const { breaker = {}, clock, random } = this.options
    return new Shard(new CircuitBreaker(breaker, { clock, random, onEvent: this.emit }))
  }
}

/** A call in progress. Receives the answer, and reports the result to the breaker that let it out. */
export class GuardedCall<A, T, R> {
  private readonly shard: Shard
  private readonly operation: GuardedOperation<A, T>
  private readonly argument: A
  private readonly finish: (value: T) => R
  private readonly entry: number

  constructor(
    shard: Shard,
    operation: GuardedOperation<A, T>,
    argument: A,
    finish: (value: T) => R,
    entry: number,
  ) {
    this.shard = shard
    this.operation = operation
    this.argument = argument
    this.finish = finish
    this.entry = entry
  }

  /** What the caller gets for an answer. */
  passed(value: T): MaybePromise<R> {
    const { shard, operation, finish } = this
    if (operation.accept?.(this.argument, value) === false) return this.failed(wrongAnswer(value))
    shard.breaker.succeeded(this.entry)
    shard.isFallingBack = false
    return finish(value)
  }

  /** What the caller gets for an error. Misuse by the caller throws. */
  failed(error: unknown): MaybePromise<R> {
    const { shard, operation, argument, finish, entry } = this
    const { breaker } = shard
    const fault = faultOf(error)
    if (fault === 'caller') {
      breaker.cancelled(entry)
      throw error
    }
    if (fault === 'key') breaker.succeeded(entry)
    else breaker.failed(entry, error)
    return mapAnswer(operation.onFailure(argument, breaker.failure(error), shard), finish)
  }
}

function identity<T>(value: T): T {
  return value
}

/** The error of a call that missed its deadline. */
function tooLate(timeout: Millis): SluiceError {
  return new SluiceError('store-timeout', `no answer within ${timeout} ms`, { transient: true })
}

/** The error of a store that answered something other than verdicts. */
function wrongAnswer(answer: unknown): SluiceError {
  return new SluiceError(
    'store-failed',
    `the store answered ${show(answer)}; accepted: one verdict per check`,
  )
}

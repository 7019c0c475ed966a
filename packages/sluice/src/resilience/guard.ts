// A limiter that always answers, and soon: deadline, breaker and fallback in one step.
import type { Decision } from '../decision/decision.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { Attributes } from '../policy/policy.ts'
import type { MaybePromise } from '../stores/store.ts'
import type { Clock, Millis } from '../time/clock.ts'
import { Deadlines } from '../time/deadlines.ts'
import type { Timers } from '../time/timers.ts'
import { abortable } from './abortable.ts'
import { NO_ENTRY, type Breaker } from './breaker.ts'
import type { FallbackEvent, OnEvent } from './events.ts'
import { causeOf, concernsOneKey, isMisuse, tooLate } from './failures.ts'
import type { Failure, Fallback } from './fallback.ts'
import type { Gate } from './gate.ts'
import { Parts, type Division, type Part } from './parts.ts'

type Asker = Attributes | string

/** What is guarded: a limiter, which may answer at once what it can decide without asking anybody. */
export interface Guarded {
  check(attributes: Asker, cost?: number): MaybePromise<Decision>
  peek(attributes: Asker, cost?: number): MaybePromise<Decision>
  refund(attributes: Asker, cost?: number, takenAt?: Millis): MaybePromise<void>
  reset(attributes: Asker): MaybePromise<void>
  close(): MaybePromise<void>
}

/** What a guard works with. */
export interface GuardParts {
  /** Milliseconds after which a call is given up; null when the limiter keeps a deadline itself. */
  readonly timeout: Millis | null
  readonly breaker: Breaker
  /** For a store whose parts fail apart. */
  readonly division?: Division
  readonly fallback: Fallback | null
  readonly onEvent: OnEvent | undefined
  readonly onClose?: () => void
  readonly clock: Clock
  readonly timers: Timers
  readonly random: () => number
}

/** A {@link Limiter} around another. A healthy check costs one promise more, and reads no clock. */
export class Guard implements Limiter {
  private readonly limiter: Guarded
  private readonly fallback: Fallback | null
  private readonly clock: Clock
  private readonly parts: Parts
  private readonly deadlines: Deadlines | null
  private isClosed = false
  private readonly onClose: (() => void) | undefined

  constructor(limiter: Guarded, parts: GuardParts) {
    const { timeout, fallback, clock, timers, onClose } = parts
    this.limiter = limiter
    this.fallback = fallback
    this.clock = clock
    this.onClose = onClose
    this.parts = new Parts(parts, parts.division)
    this.deadlines = timeout === null ? null : new Deadlines(timeout, clock, timers, tooLate)
  }

  check(attributes: Asker, cost?: number, signal?: AbortSignal): Promise<Decision> {
    if (signal === undefined) return this.ask(attributes, cost)
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    return abortable(this.ask(attributes, cost), signal)
  }

  async peek(attributes: Asker, cost?: number): Promise<Decision> {
    const part = this.parts.of(attributes)
    // A look is no probe: a store that takes no writes can still be looked at.
    if (!part.gate.isClosed && !this.isClosed) return this.standIn(part, 'peek', attributes, cost)
    try {
      return await this.inTime(this.limiter.peek(attributes, cost))
    } catch (error) {
      return this.standIn(part, 'peek', attributes, cost, noted(part.gate, error), error)
    }
  }

  async refund(attributes: Asker, cost?: number, takenAt?: Millis): Promise<void> {
    const { fallback, isClosed } = this
    const { gate, spans } = this.parts.of(attributes)
    const wasStoodIn = takenAt === undefined ? !gate.isClosed : spans.has(takenAt)
    if (fallback !== null && wasStoodIn && !isClosed)
      return fallback.refund(attributes, cost, takenAt)
    if (!gate.isClosed && !isClosed) return this.used('refund', gate.failure())
    try {
      await this.inTime(this.limiter.refund(attributes, cost, takenAt))
    } catch (error) {
      // The units stay charged until time gives them back; nobody can do more about it than that.
      this.used('refund', noted(gate, error))
    }
  }

  async reset(attributes: Asker): Promise<void> {
    await this.fallback?.reset(attributes)
    try {
      await this.inTime(this.limiter.reset(attributes))
    } catch (error) {
      noted(this.parts.of(attributes).gate, error)
      throw error
    }
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.onClose?.()
    await this.fallback?.close()
    await this.limiter.close()
  }

  /** The store can be reached again, so it seems: the next check asks it. */
  hint(): void {
    this.parts.hint()
  }

  /** The store itself gave a call up, and has now heard what came of it. */
  lateAnswer(givenBack: boolean): void {
    this.parts.emit({ type: 'late-answer', at: this.clock(), givenBack })
  }

  private ask(attributes: Asker, cost: number | undefined): Promise<Decision> {
    const { deadlines } = this
    const part = this.parts.of(attributes)
    const { gate } = part
    const isProbe = !gate.isClosed
    const entry = gate.enter()
    // What is closed says so; the stand-in would go on.
    if (entry === NO_ENTRY && !this.isClosed)
      return settled(() => this.standIn(part, 'check', attributes, cost))
    const failed = (error: unknown): MaybePromise<Decision> =>
      this.failed(part, error, entry, attributes, cost)
    let answer: MaybePromise<Decision>
    try {
      answer = this.limiter.check(attributes, cost)
    } catch (error) {
      return settled(() => failed(error))
    }
    if (!('then' in answer)) {
      // Decided without asking anybody, which says nothing about the store.
      gate.withdrew(entry)
      return Promise.resolve(answer)
    }
    const passed = isProbe ? probed(part, entry) : part.passed
    if (deadlines === null) return answer.then(passed, failed)
    return deadlines.race(answer, (late) => this.late(late, attributes, cost), passed, failed)
  }

  private failed(
    part: Part,
    error: unknown,
    entry: number,
    attributes: Asker,
    cost: number | undefined,
  ): MaybePromise<Decision> {
    const { gate } = part
    if (isMisuse(error)) gate.withdrew(entry)
    else if (concernsOneKey(error)) gate.succeeded(entry)
    else gate.failed(entry, error)
    if (isMisuse(error)) throw error
    return this.standIn(part, 'check', attributes, cost, gate.failure(causeOf(error)), error)
  }

  /** What was given up was answered after all: the caller has long gone on, so the units go back. */
  private late(decision: Decision, attributes: Asker, cost: number | undefined): void {
    const givenBack = decision.allowed && cost !== 0
    this.lateAnswer(givenBack)
    if (!givenBack) return
    // When this fails too, the units stay charged until time gives them back.
    settled(() => this.inTime(this.limiter.refund(attributes, cost, decision.at))).catch(() => {})
  }

  private standIn(
    { gate, spans }: Part,
    operation: 'check' | 'peek',
    attributes: Asker,
    cost: number | undefined,
    failure: Failure = gate.failure(),
    error?: unknown,
  ): MaybePromise<Decision> {
    const { fallback } = this
    if (fallback === null) throw (error ?? gate.notAsked()) as Error
    const decision = fallback[operation](attributes, cost, failure)
    const at = 'then' in decision ? this.clock() : decision.at
    // Where no rule spoke nothing was taken, at no instant.
    if (operation === 'check' && at > 0) spans.add(at)
    this.used(operation, failure)
    return decision
  }

  private used(operation: FallbackEvent['operation'], { cause }: Failure): void {
    this.parts.emit({ type: 'fallback', at: this.clock(), operation, cause })
  }

  private inTime<T>(answer: MaybePromise<T>): MaybePromise<T> {
    const isPromise = typeof answer === 'object' && answer !== null && 'then' in answer
    if (this.deadlines === null || !isPromise) return answer
    return this.deadlines.race(answer)
  }
}

function probed({ gate, spans }: Part, entry: number): (decision: Decision) => Decision {
  return (decision) => {
    gate.succeeded(entry)
    spans.end()
    return decision
  }
}

/** The error of a call that is not a check; throws it again when it is the caller's mistake. */
function noted(gate: Gate, error: unknown): Failure {
  if (isMisuse(error)) throw error
  if (gate.isClosed && !concernsOneKey(error)) gate.failed(gate.enter(), error)
  return gate.failure(causeOf(error))
}

/** What a function gives or throws, as a promise. */
function settled<T>(run: () => MaybePromise<T>): Promise<T> {
  try {
    return Promise.resolve(run())
  } catch (error) {
    return Promise.reject(error as Error)
  }
}

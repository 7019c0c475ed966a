// The one path of every adapter: whom the request counts as, the decision, the header fields, the reply.
import { SluiceError, show } from '../errors.ts'
import type { Decision } from '../decision/decision.ts'
import { policyBehind } from '../limiter/policy-behind.ts'
import type { Attributes } from '../policy/policy.ts'
import { isPromise, type MaybePromise } from '../stores/store.ts'
import { dialectsIn, fieldWriter, type FieldWriter } from './response-fields.ts'
import { checkCost, wrong, type AnyLimiter, type HttpOptions } from './options.ts'
import { keepAdmission, Admission, admissionOf, type Settler } from './admission.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import type { RefusalKind } from './problem.ts'
import { replyMaker, type ReplyMaker } from './refusal-reply.ts'
import { attributesReader, type Subject } from './attributes.ts'
import { mayDelay } from './attribute-names.ts'
import { warnOnce, type Warn } from './warnings.ts'

/** Decides about requests of one framework. No method throws or rejects. */
export class RequestGuard<Q extends object, S> implements Settler {
  /** Whether somebody wants to hear of the response. */
  readonly hasAfter: boolean
  /** The header fields that it writes. */
  readonly fieldNames: readonly string[]
  private readonly limiter: AnyLimiter
  private readonly adapter: FrameworkAdapter<Q, S>
  private readonly options: HttpOptions<Q, S>
  private readonly subjectOf: (request: Q) => MaybePromise<Subject>
  private readonly writeFields: FieldWriter<S>
  private readonly refuse: ReplyMaker<Q>
  private readonly warn: Warn
  private readonly mayDelay: boolean
  private readonly mayFilter: boolean
  private readonly isClosed: boolean
  private readonly passed: Admission

  constructor(limiter: AnyLimiter, adapter: FrameworkAdapter<Q, S>, options: HttpOptions<Q, S>) {
    const policy = policyBehind(limiter)
    this.warn = warnOnce(options.onWarning)
    this.limiter = limiter
    this.adapter = adapter
    this.options = options
    this.subjectOf = attributesReader(adapter, options, policy, this.warn)
    const dialects = dialectsIn(options.headers)
    this.fieldNames = dialects.flatMap(({ fields }) => fields)
    this.writeFields = fieldWriter(adapter, options, policy, dialects)
    this.refuse = replyMaker(options, (error) => this.failed('problem', error))
    this.mayDelay = policy === undefined || mayDelay(policy)
    this.mayFilter = options.skip !== undefined || options.countPreflights !== true
    const closed = policy?.rules.some(({ onStoreFailure }) => onStoreFailure === 'closed') ?? false
    this.isClosed = options.onFailure === undefined ? closed : options.onFailure === 'closed'
    this.hasAfter = options.after !== undefined
    this.passed = new Admission(this, null, '', 0, undefined)
  }

  /**
   * Decides, and writes the header fields into the response if there is one already; else `write` does. A
   * request is counted once, however often it comes.
   */
  enter(request: Q, response: S | null): MaybePromise<Admission> {
    const earlier = admissionOf(request)
    for (let one = earlier; one !== undefined; one = one.earlier)
      if (one.guard === this) return this.passed
    let subject: MaybePromise<Subject>
    let cost: number
    try {
      if (this.mayFilter && this.isSkipped(request)) return this.passed
      cost = this.costOf(request)
      subject = this.subjectOf(request)
    } catch (error) {
      return this.broken(request, error)
    }
    if (isPromise(subject)) {
      return subject.then(
        (subject) => this.check(request, response, subject, cost, earlier),
        (error: unknown) => this.broken(request, error),
      )
    }
    return this.check(request, response, subject, cost, earlier)
  }

  /** Writes the header fields. Throws what the response throws that takes no more. */
  write(admission: Admission, response: S): void {
    const { decision, attributes } = admission
    if (decision !== null) this.writeFields(response, decision, attributes)
  }

  /** The header fields of ours that a response has. */
  fieldsIn(response: S): Record<string, string> {
    const fields: Record<string, string> = {}
    for (const name of this.fieldNames) {
      const value = this.adapter.get(response, name)
      if (value !== undefined) fields[name] = value
    }
    return fields
  }

  /** What the response was, for those who charge by it. */
  answered(admission: Admission, status: number, request: Q, response: S): void {
    const { decision, cost } = admission
    if (decision === null || admission.refusal !== null) return
    try {
      const final = this.options.after!({ status, request, response, decision, cost })
      const end = (final: number | undefined): MaybePromise<void> =>
        final === undefined ? undefined : this.settle(admission, final)
      if (isPromise(final)) void final.then(end, (error: unknown) => this.failed('after', error))
      else void end(final)
    } catch (error) {
      this.failed('after', error)
    }
  }

  settle(admission: Admission, cost: number): MaybePromise<void> {
    const { decision, attributes, cost: taken } = admission
    if (decision === null || !decision.allowed || cost === taken) return
    const fail = (error: unknown): void => this.failed('settling', error)
    try {
      // Less than nothing would give back what others have taken.
      checkCost(cost)
      admission.cost = cost
      const done =
        cost < taken
          ? this.limiter.refund(attributes, taken - cost, decision.at)
          : this.takeMore(attributes, cost - taken)
      if (isPromise(done)) return done.then(undefined, fail)
    } catch (error) {
      fail(error)
    }
  }

  private check(
    request: Q,
    response: S | null,
    subject: Subject,
    cost: number,
    earlier: Admission | undefined,
  ): MaybePromise<Admission> {
    if (subject === null) return this.passed
    if (subject === undefined) return this.refused('uncountable', request, null)
    try {
      const decision = this.limiter.check(subject, cost)
      if (isPromise(decision)) {
        return decision.then(
          (decision) => this.decided(request, response, decision, subject, cost, earlier),
          (error: unknown) => this.undecided(request, error),
        )
      }
      return this.decided(request, response, decision, subject, cost, earlier)
    } catch (error) {
      return this.undecided(request, error)
    }
  }

  private decided(
    request: Q,
    response: S | null,
    decision: Decision,
    subject: Attributes | string,
    cost: number,
    earlier: Admission | undefined,
  ): Admission {
    const admission = new Admission(this, decision, subject, cost, earlier)
    try {
      keepAdmission(request, admission)
      if (response !== null) this.writeFields(response, decision, subject)
    } catch (error) {
      this.warn(
        'headers-sent',
        () => `the header fields could not be written: ${textOf(error)}`,
        error,
      )
    }
    if (!decision.allowed) {
      const { reason } = decision
      const isOver = reason !== 'unavailable' && reason !== 'blocked'
      admission.refusal = this.refuse(isOver ? 'over-limit' : reason, request, decision)
    } else if (this.mayDelay) admission.delay = decision.delay
    return admission
  }

  /** The limiter could not answer: the request goes on or not, as the rules have it. */
  private undecided(request: Q, error: unknown): Admission {
    this.failed('the limiter', error)
    // These are the request's doing, and must not be a way past the limit.
    if (error instanceof SluiceError && REQUESTS_FAULT.has(error.code))
      return this.refused('uncountable', request, null)
    return this.isClosed ? this.refused('unavailable', request, null) : this.passed
  }

  /** A function of the application failed. Going on uncounted would be a way past the limit. */
  private broken(request: Q, error: unknown): Admission {
    this.failed('a function given to rateLimit', error)
    return this.refused('broken', request, null)
  }

  private failed(what: string, error: unknown): void {
    this.warn('limiter-failed', () => `${what} failed: ${textOf(error)}`, error)
  }

  private refused(kind: RefusalKind, request: Q, decision: Decision | null): Admission {
    const admission = new Admission(this, decision, '', 0, undefined)
    admission.refusal = this.refuse(kind, request, decision)
    return admission
  }

  private costOf(request: Q): number {
    const { cost = 1 } = this.options
    if (typeof cost === 'number') return cost
    const units: unknown = cost(request)
    if (typeof units !== 'number')
      throw wrong(`cost gave ${show(units)}; accepted: a number of units`)
    return units
  }

  private isSkipped(request: Q): boolean {
    const { skip, countPreflights } = this.options
    if (skip !== undefined) {
      const skipped: unknown = skip(request)
      // A promise is as good as true, and would let everything through.
      if (isPromise(skipped)) throw wrong('skip gave a promise; accepted: true or false')
      if (skipped) return true
    }
    return (
      countPreflights !== true &&
      this.adapter.method(request) === 'OPTIONS' &&
      this.adapter.header(request, 'origin') !== undefined &&
      this.adapter.header(request, 'access-control-request-method') !== undefined
    )
  }

  /** Charges what a request cost beyond what was known; as much as there is, when there is not enough. */
  private takeMore(subject: Attributes | string, cost: number): MaybePromise<void> {
    const rest = (decision: Decision): MaybePromise<unknown> =>
      decision.allowed || decision.remaining === 0
        ? undefined
        : this.limiter.check(subject, decision.remaining)
    const decision = this.limiter.check(subject, cost)
    if (isPromise(decision)) return decision.then(rest).then(() => undefined)
    void rest(decision)
  }
}

/** Errors about what a request says of itself. */
const REQUESTS_FAULT: ReadonlySet<string> = new Set([
  'invalid-key',
  'invalid-attributes',
  'invalid-cost',
])

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : show(error)
}

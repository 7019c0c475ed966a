// The one path of every adapter: what a request counts by, the decision, the header fields, the reply or the delay.
import type { Decision } from '../decision/decision.ts'
import { LazyDecision } from '../decision/lazy-decision.ts'
import { policyOfLimiter } from '../limiter/policy-of-limiter.ts'
import type { Attributes } from '../policy/policy.ts'
import { attempt, mapAnswer, isPromise, type MaybePromise } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import { Admission, carrierOf, keepAdmission, lastAdmission, type Settler } from './admission.ts'
import { mayDelay } from './attribute-names.ts'
import { attributesReader, Readings, type CountedBy } from './attributes.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import { joinHeldRequests, HoldingLimiter, isBudget, type AnyBudget } from './held-requests.ts'
import { onEnd, type Ending } from './leave-when-closed.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'
import { refusalAction, type RefusalAction } from './refusal-action.ts'
import { replyMaker, type ReplyMaker } from './refusal-reply.ts'
import { isPreflight, isSkipped, maxDelayOf, unitsBy } from './request-choices.ts'
import { dialectsIn, fieldWriter, type FieldWriter } from './response-fields.ts'
import { RequestSettlement } from './settlement.ts'
import { silentConditions, warnOfSilentRules } from './silent-rules.ts'
import {
  isCompleteDecision,
  messageOf,
  UndecidedRequests,
  warnOfFailure,
} from './undecided-requests.ts'
import { unusedBeside } from './unused-options.ts'
import { warnOnce, type Warn } from './warnings.ts'

/**
 * Decides about requests of one framework. No method throws or rejects.
 *
 * A request takes these steps: `enter`, `count`, `decide`, `decided`. What ends one early is in `undecided-requests.ts`,
 * what is charged when it is over in `settlement.ts`.
 *
 * @example
 * ```ts
 * const guard = createRequestGuard(nodeAdapter, limiter) // a RequestGuard for requests of node:http
 * ```
 */
export class RequestGuard<Q extends object, S> implements Settler {
  /** Whether the guard needs to know how requests end: one call of `answered` or `unanswered` for each. */
  readonly hasAfter: boolean
  /** Whether requests hold units of a budget until they are over, so that a response is over when its body is. */
  readonly holds: boolean
  /** Units per request where the options do not say it. 0 of a budget that reserves: it estimates them itself. */
  readonly defaultCost: number
  /** The header fields that it writes. */
  readonly fieldNames: readonly string[]
  /** Reports a warning once by its code. */
  readonly warn: Warn
  private readonly limiter: AnyLimiter | HoldingLimiter
  private readonly holding: HoldingLimiter | undefined
  private readonly adapter: FrameworkAdapter<Q, S>
  private readonly options: HttpOptions<Q, S>
  private readonly countedBy: (request: Q) => MaybePromise<CountedBy>
  private readonly writeFields: FieldWriter<S>
  private readonly replyTo: ReplyMaker<Q>
  private readonly undecided: UndecidedRequests<Q>
  private readonly settlement: RequestSettlement<Q, S>
  private readonly skip: HttpOptions<Q, S>['skip']
  private readonly onDecision: HttpOptions<Q, S>['onDecision']
  private readonly cost: number | ((request: Q) => number)
  private readonly skipsPreflights: boolean
  private readonly mayDelay: boolean
  private readonly maxDelay: Millis

  constructor(
    limiter: AnyLimiter | AnyBudget,
    adapter: FrameworkAdapter<Q, S>,
    options: HttpOptions<Q, S>,
  ) {
    const limiterPolicy = policyOfLimiter(limiter)
    const policy = limiterPolicy?.policy
    const warn = (this.warn = warnOnce(options.onWarning))
    const failed = (what: string, error: unknown): void => warnOfFailure(warn, what, error)
    this.adapter = adapter
    this.options = options
    this.holding = isBudget(limiter)
      ? new HoldingLimiter(limiter, policy, (error) => failed('settling', error))
      : undefined
    this.limiter = this.holding ?? (limiter as AnyLimiter)
    this.holds = this.holding !== undefined
    this.hasAfter = this.holds || options.after !== undefined
    this.settlement = new RequestSettlement(this.limiter, options, policy, failed)
    if (options.after !== undefined && this.holding?.reserves === false)
      this.settlement.refuseUnused()
    if (limiterPolicy !== undefined) {
      warnOfSilentRules(limiterPolicy.policy, adapter, options, warn)
      const unused = unusedBeside(limiterPolicy, options)
      if (unused.length > 0) warn('option-unused', () => unused.join('; '))
    }
    this.countedBy = attributesReader(adapter, options, limiterPolicy, warn, (conditions) => {
      const silent = silentConditions(conditions, adapter, options)
      // Not once for all: each was set by itself.
      if (silent.length > 0) warnOnce(options.onWarning)('control-unmet', () => silent.join('; '))
    })
    const dialects = dialectsIn(options.headers)
    this.fieldNames = dialects.flatMap(({ fields }) => fields)
    this.writeFields = fieldWriter(adapter, options, policy, dialects)
    this.replyTo = replyMaker(options, (error) => failed('problem', error))
    const closed = policy?.rules.some(({ onStoreFailure }) => onStoreFailure === 'closed') ?? false
    const isClosed = options.onFailure === undefined ? closed : options.onFailure === 'closed'
    this.undecided = new UndecidedRequests(this, this.replyTo, isClosed, warn)
    this.skip = options.skip
    this.onDecision = options.onDecision
    this.defaultCost = this.holding?.reserves === true ? 0 : 1
    this.cost = options.cost ?? this.defaultCost
    this.skipsPreflights = options.countPreflights === false
    this.mayDelay = policy === undefined || mayDelay(policy)
    this.maxDelay = maxDelayOf(options.maxDelay)
  }

  /**
   * Decides, and writes the header fields into the response if there is one already; else `write` does. A
   * request is counted once, however often it comes.
   */
  enter(request: Q, response: S | null): MaybePromise<Admission> {
    const carrier = carrierOf(request)
    let admission = lastAdmission(carrier, request)
    for (; admission !== undefined; admission = admission.earlier)
      if (admission.guard === this) return this.undecided.uncounted
    if (this.skip !== undefined) return this.countUnlessSkipped(request, response, carrier)
    return this.count(request, response, carrier)
  }

  // A step that waits binds the next one: a closure in it would cost an object on every call, whether it waits or not.

  /** Reads what the request costs and what it counts by. */
  private count(request: Q, response: S | null, carrier: object): MaybePromise<Admission> {
    const { undecided } = this
    let countedBy: MaybePromise<CountedBy>
    let cost: number
    try {
      cost = typeof this.cost === 'number' ? this.cost : unitsBy(this.cost, request)
      countedBy = this.countedBy(request)
    } catch (error) {
      return undecided.unreadable(request, error)
    }
    if (!isPromise(countedBy)) return this.decide(request, response, carrier, cost, countedBy)
    return countedBy.then(
      this.decide.bind(this, request, response, carrier, cost),
      undecided.unreadable.bind(undecided, request),
    )
  }

  /** Asks the limiter about a request by what it counts by: nearly always one key, or one set of attributes. */
  private decide(
    request: Q,
    response: S | null,
    carrier: object,
    cost: number,
    countedBy: CountedBy,
  ): MaybePromise<Admission> {
    const { undecided } = this
    if (countedBy === null) return undecided.uncounted
    if (countedBy === undefined) return undecided.refuse('uncountable', request)
    if (this.skipsPreflights && isPreflight(this.adapter, request))
      return this.checkBlocks(request, countedBy)
    if (countedBy instanceof Readings)
      return this.decideAll(request, response, carrier, cost, countedBy.all)
    try {
      const decision = this.limiter.check(countedBy, cost)
      // A decision of ours is known without a look for `then`.
      if (decision instanceof LazyDecision || !isPromise(decision))
        return this.decided(request, response, carrier, cost, countedBy, decision)
      return decision.then(
        this.decided.bind(this, request, response, carrier, cost, countedBy),
        undecided.byFailure.bind(undecided, request),
      )
    } catch (error) {
      return undecided.byFailure(request, error)
    }
  }

  /** Keeps and reports the decision, writes the header fields, and makes the reply of a refusal. */
  private decided(
    request: Q,
    response: S | null,
    carrier: object,
    cost: number,
    attributes: Attributes | string,
    decision: Decision,
  ): Admission {
    if (!(decision instanceof LazyDecision) && !isCompleteDecision(decision))
      return this.undecided.byIncompleteDecision(request, decision)
    const earlier = lastAdmission(carrier, request)
    const admission = new Admission(this, decision, attributes, cost, earlier)
    if (this.holding !== undefined) admission.held = this.holding.heldBy(decision)
    if (this.onDecision !== undefined) this.report(this.onDecision, decision, request)
    keepAdmission(carrier, request, admission)
    try {
      if (response !== null) this.writeFields(response, decision, attributes)
    } catch (error) {
      this.warnOfFields(error)
    }
    if (!decision.allowed) {
      const { reason } = decision
      const isOver = reason !== 'unavailable' && reason !== 'blocked'
      admission.refusal = this.replyTo(isOver ? 'over-limit' : reason, request, decision)
    } else if (this.mayDelay && decision.delay > 0) this.delay(admission, request, decision)
    return admission
  }

  /** Writes the header fields. Throws what the response throws when it takes no more fields. */
  write({ decision, attributes }: Admission, response: S): void {
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

  /** What to do for a refused request, by `onRefused` if there is one. `response` is what `onRefused` receives. */
  refuse(admission: Admission, request: Q, response: S): MaybePromise<RefusalAction> {
    return refusalAction(this.options.onRefused, admission, request, response)
  }

  /** Calls `answered` or `unanswered` when Node's response is over, if the guard needs to know. */
  watch(admission: Admission, raw: Ending, request: Q, response: S): void {
    if (!this.hasAfter) return
    onEnd(
      raw,
      () => this.answered(admission, raw.statusCode, request, response),
      () => this.unanswered(admission),
    )
  }

  /** The request is over. Charges by the response, if `after` is set. */
  answered(admission: Admission, status: number, request: Q, response: S): void {
    this.settlement.answered(admission, status, request, response)
  }

  /** The client has left before it had an answer. What the request holds is settled by the estimate. */
  unanswered(admission: Admission): void {
    this.settlement.unanswered(admission)
  }

  settle(admission: Admission, cost: number): MaybePromise<void> {
    return this.settlement.settle(admission, cost)
  }

  private countUnlessSkipped(
    request: Q,
    response: S | null,
    carrier: object,
  ): MaybePromise<Admission> {
    return attempt(
      () =>
        mapAnswer(isSkipped(this.skip!, request, this.warn), (skipped) =>
          skipped ? this.undecided.uncounted : this.count(request, response, carrier),
        ),
      (error) => this.undecided.unreadable(request, error),
    )
  }

  private warnOfFields(error: unknown): void {
    const message = (): string => `the header fields could not be written: ${messageOf(error)}`
    this.warn('headers-sent', message, error)
  }

  /** Decides about a request as every route that some server would take its path for; the first refusal counts. */
  private decideAll(
    request: Q,
    response: S | null,
    carrier: object,
    cost: number,
    readings: readonly Attributes[],
  ): MaybePromise<Admission> {
    /** The last one that was counted, which holds what all hold. */
    let counted: Admission | undefined
    const decideFrom = (i: number): MaybePromise<Admission> => {
      const isLast = i === readings.length - 1
      const decided = this.decide(request, isLast ? response : null, carrier, cost, readings[i])
      return mapAnswer(decided, (admission) => {
        if (admission.refusal !== null) {
          void counted?.held?.cancel()
          return admission
        }
        // One that failed and passes is shared by all requests.
        if (admission !== this.undecided.uncounted) {
          admission.held = joinHeldRequests(counted?.held, admission.held)
          counted = admission
        }
        return isLast ? (counted ?? admission) : decideFrom(i + 1)
      })
    }
    return decideFrom(0)
  }

  /** A preflight that does not count is refused only by a block. */
  private checkBlocks(
    request: Q,
    countedBy: Attributes | Readings | string,
  ): MaybePromise<Admission> {
    const attributes = countedBy instanceof Readings ? countedBy.all.at(-1)! : countedBy
    return attempt(
      () =>
        mapAnswer(this.limiter.check(attributes, 0), (decision: Decision) => {
          void this.holding?.heldBy(decision)?.cancel()
          return isCompleteDecision(decision) && !decision.allowed && decision.reason === 'blocked'
            ? this.undecided.refuse('blocked', request, decision)
            : this.undecided.uncounted
        }),
      (error) => this.undecided.byFailure(request, error),
    )
  }

  /** Holds the request, or refuses it if the delay is longer than a client waits. */
  private delay(admission: Admission, request: Q, decision: Decision): void {
    const { delay } = decision
    if (delay <= this.maxDelay) {
      admission.delay = delay
      return
    }
    if (admission.held === undefined) void this.settle(admission, 0)
    else void admission.held.cancel()
    admission.refusal = this.replyTo('over-limit', request, decision, delay - this.maxDelay)
  }

  private report(
    onDecision: (decision: Decision, request: Q) => unknown,
    decision: Decision,
    request: Q,
  ): void {
    void attempt(
      () => onDecision(decision, request),
      (error) => warnOfFailure(this.warn, 'onDecision', error),
    )
  }
}

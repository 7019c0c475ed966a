// The one path of every adapter: whether a request counts, by what, the decision, the header fields, the reply.
import type { Decision, Outcome } from '../decision/decision.ts'
import { LazyDecision } from '../decision/lazy-decision.ts'
import { show, SluiceError } from '../errors.ts'
import { policyBehind } from '../limiter/policy-behind.ts'
import type { LimiterControls } from '../limiter/controls.ts'
import type { Attributes } from '../policy/policy.ts'
import { isPromise, type MaybePromise } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import { duration } from '../time/duration.ts'
import {
  Admission,
  offRequest,
  onRequest,
  type AdmissionKeeper,
  type Settler,
} from './admission.ts'
import { mayDelay } from './attribute-names.ts'
import { attributesReader, otherReadings, type CountedBy } from './attributes.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import { bothOf, HoldingLimiter, isBudget, type AnyBudget } from './held-requests.ts'
import { MAX_TIMER_MS } from '../time/timers.ts'
import { checkCost, wrong, type AnyLimiter, type CustomReply, type HttpOptions } from './options.ts'
import type { RefusalKind } from './problem.ts'
import { customized, replyMaker, type RefusalReply, type ReplyMaker } from './refusal-reply.ts'
import { dialectsIn, fieldWriter, type FieldWriter } from './response-fields.ts'
import { silentConditions, warnOfSilentRules } from './silent-rules.ts'
import { unusedBeside } from './unused-options.ts'
import { warnOnce, type Warn } from './warnings.ts'

/**
 * What to do for a refused request: send a reply, send the application's Response, nothing more, or handle an error.
 *
 * @example
 * ```ts
 * const statusOf = (action: RefusalAction) => (action.type === 'reply' ? action.reply.status : null)
 * ```
 */
export type RefusalAction =
  | { readonly type: 'reply'; readonly reply: RefusalReply }
  | { readonly type: 'response'; readonly response: Response; readonly reply: RefusalReply }
  | { readonly type: 'handled' }
  | { readonly type: 'error'; readonly error: unknown; readonly reply: RefusalReply }

/**
 * Decides about requests of one framework. No method throws or rejects.
 *
 * @example
 * ```ts
 * const guard = createRequestGuard(nodeAdapter, limiter) // a RequestGuard for requests of node:http
 * ```
 */
export class RequestGuard<Q extends object, S> implements Settler {
  /** Whether the guard must be told how requests end: each by one call of `answered` or `unanswered`. */
  readonly hasAfter: boolean
  /** Whether requests hold units of a budget until they are over, so that a response is over when its body is. */
  readonly holds: boolean
  /** Whether a rule locks keys out, so that what `after` charges counts as a failure. */
  private readonly hasLockouts: boolean
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
  private readonly attributesOf: (request: Q) => MaybePromise<CountedBy>
  private readonly writeFields: FieldWriter<S>
  private readonly admissions: AdmissionKeeper
  private readonly replyTo: ReplyMaker<Q>
  private readonly skip: HttpOptions<Q, S>['skip']
  private readonly onDecision: HttpOptions<Q, S>['onDecision']
  private readonly cost: number | ((request: Q) => number)
  private readonly skipsPreflights: boolean
  private readonly mayDelay: boolean
  private readonly maxDelay: Millis
  private readonly isClosed: boolean
  /** The admission of every request that goes on uncounted. */
  private readonly uncounted: Admission

  constructor(
    limiter: AnyLimiter | AnyBudget,
    adapter: FrameworkAdapter<Q, S>,
    options: HttpOptions<Q, S>,
  ) {
    const decidedBy = policyBehind(limiter)
    const policy = decidedBy?.policy
    this.warn = warnOnce(options.onWarning)
    this.holding = isBudget(limiter)
      ? new HoldingLimiter(limiter, policy, (error) => this.failed('settling', error))
      : undefined
    this.limiter = this.holding ?? (limiter as AnyLimiter)
    this.holds = this.holding !== undefined
    this.adapter = adapter
    this.options = options
    if (decidedBy !== undefined) {
      warnOfSilentRules(decidedBy.policy, adapter, options, this.warn)
      const unused = unusedBeside(decidedBy, options)
      if (unused.length > 0) this.warn('option-unused', () => unused.join('; '))
    }
    this.attributesOf = attributesReader(adapter, options, decidedBy, this.warn, (conditions) => {
      const silent = silentConditions(conditions, adapter, options)
      // Not once for all: each was set by itself.
      if (silent.length > 0) warnOnce(options.onWarning)('control-unmet', () => silent.join('; '))
    })
    const dialects = dialectsIn(options.headers)
    this.fieldNames = dialects.flatMap(({ fields }) => fields)
    this.writeFields = fieldWriter(adapter, options, policy, dialects)
    this.replyTo = replyMaker(options, (error) => this.failed('problem', error))
    this.admissions = adapter.keepsBeside === true ? offRequest : onRequest
    this.skip = options.skip
    this.onDecision = options.onDecision
    this.defaultCost = this.holding?.reserves === true ? 0 : 1
    this.cost = options.cost ?? this.defaultCost
    this.skipsPreflights = options.countPreflights === false
    this.mayDelay = policy === undefined || mayDelay(policy)
    this.maxDelay = maxDelayOf(options.maxDelay)
    const closed = policy?.rules.some(({ onStoreFailure }) => onStoreFailure === 'closed') ?? false
    this.isClosed = options.onFailure === undefined ? closed : options.onFailure === 'closed'
    this.hasAfter = this.holds || options.after !== undefined
    this.hasLockouts = policy?.rules.some(({ lockout }) => lockout !== undefined) ?? false
    if (options.after !== undefined && this.holding?.reserves === false && !this.hasLockouts)
      throw wrong(
        'after is given, but the budget has slots alone, which cost nothing; accepted: none',
      )
    this.uncounted = new Admission(this, null, '', 0, undefined)
  }

  /**
   * Decides, and writes the header fields into the response if there is one already; else `write` does. A
   * request is counted once, however often it comes.
   */
  enter(request: Q, response: S | null): MaybePromise<Admission> {
    const earlier = this.admissions.of(request)
    for (let one = earlier; one !== undefined; one = one.earlier)
      if (one.guard === this) return this.uncounted
    const { skip } = this
    if (skip === undefined) return this.count(request, response, earlier)
    try {
      const skipped = skip(request)
      if (!isPromise(skipped))
        return this.isSkipped(skipped) ? this.uncounted : this.count(request, response, earlier)
      return skipped.then(
        (skipped) =>
          this.isSkipped(skipped) ? this.uncounted : this.count(request, response, earlier),
        (error: unknown) => this.unreadable(request, error),
      )
    } catch (error) {
      return this.unreadable(request, error)
    }
  }

  /** Whether `skip` returned true. A text such as a header field must not switch the limit off. */
  private isSkipped(returned: unknown): boolean {
    if (returned === true || !returned) return returned === true
    this.warn(
      'skip-value',
      () =>
        `skip returned ${show(returned)}, which is neither true nor false, so the request counts; return true to let it pass uncounted`,
    )
    return false
  }

  /** Writes the header fields. Throws what the response throws when it takes no more fields. */
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

  /** What to do for a refused request, by `onRefused` if there is one. `response` is what `onRefused` receives. */
  refuse(admission: Admission, request: Q, response: S): MaybePromise<RefusalAction> {
    const reply = admission.refusal as RefusalReply
    const { onRefused } = this.options
    if (onRefused === undefined)
      return admission.error === undefined
        ? { type: 'reply', reply }
        : { type: 'error', error: admission.error, reply }
    const act = (result: unknown): RefusalAction => {
      if (result === 'handled') return { type: 'handled' }
      if (result === undefined) return { type: 'reply', reply }
      if (typeof Response !== 'undefined' && result instanceof Response)
        return { type: 'response', response: result, reply }
      if (typeof result !== 'object' || result === null)
        throw wrong(`onRefused returned ${show(result)}; accepted: { status, headers, body }`)
      return { type: 'reply', reply: customized(reply, result as CustomReply) }
    }
    const fail = (error: unknown): RefusalAction => ({ type: 'error', error, reply })
    try {
      const result = onRefused(admission.decision, request, response)
      return isPromise(result) ? result.then(act).then(undefined, fail) : act(result)
    } catch (error) {
      return fail(error)
    }
  }

  /** The request is over. Charges by the response, if `after` says so. */
  answered(admission: Admission, status: number, request: Q, response: S): void {
    const { decision, cost } = admission
    const { after } = this.options
    if (decision === null || admission.refusal !== null) return
    if (after === undefined) return this.unanswered(admission)
    const fail = (error: unknown): void => {
      this.failed('after', error)
      this.unanswered(admission)
    }
    const end = (final: number | undefined): void => {
      if (final === undefined) return this.unanswered(admission)
      if (this.hasLockouts && final > 0) this.countFailure(admission)
      void this.settle(admission, final)
    }
    try {
      const final = after({ status, request, response, decision, cost })
      if (isPromise(final)) void final.then(end, fail)
      else end(final)
    } catch (error) {
      fail(error)
    }
  }

  /** The client has left before it had an answer. What the request holds is settled by the estimate. */
  unanswered({ held }: Admission): void {
    void held?.end()
  }

  /** What `after` charges is a failure for the lockouts of the policy. */
  private countFailure({ attributes }: Admission): void {
    const fail = (error: unknown): void => this.failed('after', error)
    try {
      const done = (this.limiter as Partial<LimiterControls>).countFailure?.(attributes)
      if (isPromise(done)) void done.then(undefined, fail)
    } catch (error) {
      fail(error)
    }
  }

  settle(admission: Admission, cost: number): MaybePromise<void> {
    const { decision, attributes, cost: taken, held } = admission
    if (decision === null || !decision.allowed || (cost === taken && held === undefined)) return
    const fail = (error: unknown): void => this.failed('settling', error)
    try {
      // A negative cost would refund units that other requests took.
      checkCost(cost)
      admission.cost = cost
      if (held !== undefined) return held.end(cost)
      const done =
        cost < taken
          ? this.limiter.refund(attributes, taken - cost, decision.at, decision.pools)
          : this.takeMore(attributes, cost - taken)
      if (isPromise(done)) return done.then(undefined, fail)
    } catch (error) {
      fail(error)
    }
  }

  private count(
    request: Q,
    response: S | null,
    earlier: Admission | undefined,
  ): MaybePromise<Admission> {
    let attributes: MaybePromise<CountedBy>
    let cost: number
    try {
      cost = this.costOf(request)
      attributes = this.attributesOf(request)
    } catch (error) {
      return this.unreadable(request, error)
    }
    if (isPromise(attributes)) {
      return attributes.then(
        (attributes) => this.checkAll(request, response, attributes, cost, earlier),
        (error: unknown) => this.unreadable(request, error),
      )
    }
    // The short way for a bare limit.
    if (typeof attributes === 'string' && !this.skipsPreflights)
      return this.check(request, response, attributes, cost, earlier)
    return this.checkAll(request, response, attributes, cost, earlier)
  }

  /** Checks a request as every route that some server would take its path for; nearly always that is one. */
  private checkAll(
    request: Q,
    response: S | null,
    attributes: CountedBy,
    cost: number,
    earlier: Admission | undefined,
  ): MaybePromise<Admission> {
    if (attributes === null) return this.uncounted
    if (attributes === undefined) return this.refused('uncountable', request, null)
    if (this.skipsPreflights && this.isPreflight(request))
      return this.checkBlocks(request, attributes)
    const others = typeof attributes === 'object' ? otherReadings(attributes) : undefined
    if (others === undefined) return this.check(request, response, attributes, cost, earlier)
    const readings = [...others, attributes]
    let held: Admission['held']
    const checkFrom = (i: number): MaybePromise<Admission> => {
      const isLast = i === readings.length - 1
      const checkRest = (admission: Admission): MaybePromise<Admission> => {
        if (admission.refusal !== null) void held?.cancel()
        else admission.held = held = bothOf(held, admission.held)
        return isLast || admission.refusal !== null ? admission : checkFrom(i + 1)
      }
      const made = this.check(request, isLast ? response : null, readings[i]!, cost, earlier)
      return isPromise(made) ? made.then(checkRest) : checkRest(made)
    }
    return checkFrom(0)
  }

  private check(
    request: Q,
    response: S | null,
    attributes: Attributes | string,
    cost: number,
    earlier: Admission | undefined,
  ): MaybePromise<Admission> {
    try {
      const decision = this.limiter.check(attributes, cost)
      if (isPromise(decision)) {
        return decision.then(
          (decision) => this.decided(request, response, decision, attributes, cost, earlier),
          (error: unknown) => this.undecided(request, error),
        )
      }
      return this.decided(request, response, decision, attributes, cost, earlier)
    } catch (error) {
      return this.undecided(request, error)
    }
  }

  private decided(
    request: Q,
    response: S | null,
    decision: Decision,
    attributes: Attributes | string,
    cost: number,
    earlier: Admission | undefined,
  ): Admission {
    if (!(decision instanceof LazyDecision) && !isWhole(decision))
      return this.halfDecided(request, decision)
    const admission = new Admission(this, decision, attributes, cost, earlier)
    if (this.holding !== undefined) admission.held = this.holding.heldBy(decision)
    const { onDecision } = this
    if (onDecision !== undefined) this.report(onDecision, decision, request)
    try {
      this.admissions.keep(request, admission)
      if (response !== null) this.writeFields(response, decision, attributes)
    } catch (error) {
      this.warn(
        'headers-sent',
        () => `the header fields could not be written: ${messageOf(error)}`,
        error,
      )
    }
    if (!decision.allowed) {
      const { reason } = decision
      const isOver = reason !== 'unavailable' && reason !== 'blocked'
      admission.refusal = this.replyTo(isOver ? 'over-limit' : reason, request, decision)
    } else if (this.mayDelay && decision.delay > 0) this.delay(admission, request, decision)
    return admission
  }

  /** A limiter may be anything with a check method. What it got wrong must not end the process, nor let refusals pass. */
  private halfDecided(request: Q, decision: unknown): Admission {
    const isRefusal = (decision as Partial<Decision> | null | undefined)?.allowed === false
    const error = wrong(`the limiter returned half a decision, ${show(decision)}`)
    if (!isRefusal) return this.undecided(request, error)
    this.failed('the limiter', error)
    return this.refused('unavailable', request, null)
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

  /** A preflight that does not count is refused only by a block. */
  private checkBlocks(request: Q, attributes: Attributes | string): MaybePromise<Admission> {
    const answer = (decision: Decision): Admission => {
      void this.holding?.heldBy(decision)?.cancel()
      return isWhole(decision) && !decision.allowed && decision.reason === 'blocked'
        ? this.refused('blocked', request, decision)
        : this.uncounted
    }
    const fail = (error: unknown): Admission => this.undecided(request, error)
    try {
      const decision = this.limiter.check(attributes, 0)
      return isPromise(decision) ? decision.then(answer).then(undefined, fail) : answer(decision)
    } catch (error) {
      return fail(error)
    }
  }

  /** The limiter could not answer: the request goes on or not, by the failure mode. */
  private undecided(request: Q, error: unknown): Admission {
    this.failed('the limiter', error)
    // Errors that the request caused must not be a way past the limit.
    if (isFaultOfRequest(error)) return this.refused('uncountable', request, null)
    return this.isClosed ? this.refused('unavailable', request, null) : this.uncounted
  }

  /** The request could not be read, or a function of the application failed: going on uncounted would be a bypass. */
  private unreadable(request: Q, error: unknown): Admission {
    if (isFaultOfRequest(error)) {
      this.warn('request-refused', () => messageOf(error), error)
      return this.refused('uncountable', request, null)
    }
    this.failed('a function given to rateLimit', error)
    const admission = this.refused('broken', request, null)
    admission.error = error ?? new Error('a function given to rateLimit threw nothing')
    return admission
  }

  private failed(what: string, error: unknown): void {
    this.warn('limiter-failed', () => `${what} failed: ${messageOf(error)}`, error)
  }

  private report(
    onDecision: (decision: Decision, request: Q) => unknown,
    decision: Decision,
    request: Q,
  ): void {
    const fail = (error: unknown): void => this.failed('onDecision', error)
    try {
      const result = onDecision(decision, request)
      if (isPromise(result)) void result.then(undefined, fail)
    } catch (error) {
      fail(error)
    }
  }

  private refused(kind: RefusalKind, request: Q, decision: Decision | null): Admission {
    const admission = new Admission(this, decision, '', 0, undefined)
    admission.refusal = this.replyTo(kind, request, decision)
    return admission
  }

  private costOf(request: Q): number {
    const { cost } = this
    if (typeof cost === 'number') return cost
    const units: unknown = cost(request)
    if (typeof units !== 'number')
      throw wrong(`cost returned ${show(units)}; accepted: a number of units`)
    return units
  }

  private isPreflight(request: Q): boolean {
    const { adapter } = this
    return (
      adapter.method(request) === 'OPTIONS' &&
      adapter.header(request, 'origin') !== undefined &&
      adapter.header(request, 'access-control-request-method') !== undefined
    )
  }

  /** Charges units beyond those that were known; if there are not enough, all that remain. */
  private takeMore(attributes: Attributes | string, cost: number): MaybePromise<void> {
    const rest = (decision: Decision): MaybePromise<unknown> =>
      decision.allowed || decision.remaining === 0
        ? undefined
        : this.limiter.check(attributes, decision.remaining)
    const decision = this.limiter.check(attributes, cost)
    if (isPromise(decision)) return decision.then(rest).then(() => undefined)
    void rest(decision)
  }
}

/** Proxies and clients seldom wait longer for an answer. */
const DEFAULT_MAX_DELAY: Millis = 60_000

function maxDelayOf(option: HttpOptions<unknown>['maxDelay']): Millis {
  const millis = option === undefined ? DEFAULT_MAX_DELAY : duration(option)
  if (millis > MAX_TIMER_MS)
    throw wrong(`maxDelay is ${show(option)}; accepted: a duration of at most 24 days`)
  return millis
}

/** Codes of errors about what a request says of itself. */
const FAULTS_OF_REQUESTS: ReadonlySet<string> = new Set([
  'invalid-key',
  'invalid-attributes',
  'invalid-cost',
])

function isFaultOfRequest(error: unknown): boolean {
  return error instanceof SluiceError && FAULTS_OF_REQUESTS.has(error.code)
}

/** Whether a limiter returned a decision that replies and header fields can be made of. */
function isWhole(decision: unknown): decision is Decision {
  if (typeof decision !== 'object' || decision === null) return false
  if (typeof (decision as Decision).allowed !== 'boolean') return false
  const { outcomes } = decision as { outcomes: unknown }
  return Array.isArray(outcomes) && outcomes.every(isWholeOutcome)
}

function isWholeOutcome(outcome: unknown): boolean {
  if (typeof outcome !== 'object' || outcome === null) return false
  const { rule, limit, remaining } = outcome as Partial<Outcome>
  return (
    typeof rule === 'string' &&
    typeof limit === 'object' &&
    limit !== null &&
    typeof remaining === 'number'
  )
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : show(error)
}

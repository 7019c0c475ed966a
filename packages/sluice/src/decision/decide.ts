// The one place where the checks of a request meet a store. Policies, descriptors and callers with checks of their own end here.
import type { Verdict } from '../limit/verdict.ts'
import type { Attributes } from '../policy/policy.ts'
import {
  isPromise,
  type AsyncStore,
  type MaybePromise,
  type Store,
  type SyncStore,
  type TakeOutput,
  type TakesOne,
  type TakesThen,
} from '../stores/store.ts'
import { preciseClock, type Millis } from '../time/clock.ts'
import type { Decision, Skipped } from './decision.ts'
import { FastDecision } from './fast-decision.ts'
import { candidateChecks, withCandidates } from './candidates.ts'
import { LazyDecision, StoreDecision, type RuleCheck } from './lazy-decision.ts'

/**
 * One request, ready to be decided: its rules are matched and its keys are built.
 *
 * @example
 * ```ts
 * const request: DecisionRequest = matchPolicy(policy)({ user: '42' })
 * ```
 */
export interface DecisionRequest {
  /** The attributes that the checks were made from: one set, or one per descriptor. Blocks are looked up by them. */
  readonly attributes: readonly Attributes[]
  readonly checks: readonly RuleCheck[]
  readonly skipped: readonly Skipped[]
}

/**
 * Called after each decision; `elapsed` is how long it took in milliseconds, with fractions, or NaN if it was not measured.
 *
 * @example
 * ```ts
 * const onDecision: OnDecision = ({ allowed, rule }) => console.log(allowed, rule)
 * createLimiter({ limit: '100/min', onDecision })
 * ```
 */
export type OnDecision = (decision: Decision, request: DecisionRequest, elapsed: Millis) => void

/**
 * Makes the id of a refusal.
 *
 * @example
 * ```ts
 * const identify: IdentifyRefusal = () => crypto.randomUUID()
 * createLimiter({ limit: '100/min', identify })
 * ```
 */
export type IdentifyRefusal = (decision: Decision, request: DecisionRequest) => string

/**
 * The store of a decision, and what runs before and after it.
 *
 * @example
 * ```ts
 * const options: DecideOptions = { store, onDecision: ({ allowed }) => console.log(allowed) }
 * ```
 */
export interface DecideOptions {
  readonly store: Store
  /** How long these attributes are still blocked, in milliseconds; undefined when they are not. Asked before anything is counted. */
  readonly blocked?: ((attributes: Attributes) => Millis | undefined) | undefined
  /** Which attributes `blocked` reads now, which adapters then read too; another set after a change. Default: all of them. */
  readonly blockedBy?: (() => ReadonlySet<string>) | undefined
  /** Makes the `id` of a refusal, before it is observed. It must not throw. */
  readonly identify?: IdentifyRefusal | undefined
  /** Observes decisions, not peeks. It must not throw. */
  readonly onDecision?: OnDecision | undefined
  /** Whether to measure the next decision; two readings of the clock cost a fifth of one in memory. Default: always. */
  readonly isTimed?: (() => boolean) | undefined
}

const NONE: readonly never[] = []

/**
 * Decides a request: charges all of its checks, or none. Answers at once on a synchronous store.
 *
 * @example
 * ```ts
 * const request = matchPolicy(policy)({ user: '42' })
 * const { allowed } = await decide(request, { store })
 * ```
 */
export function decide(request: DecisionRequest, options: DecideOptions): MaybePromise<Decision> {
  return decideWith(request, options)
}

/** Makes the result of a caller from a decision. */
type Finish<T> = (decision: Decision) => T

/** {@link decide} for code of the library; with a function of the decision, which costs less than a second promise around it. */
export function decideWith<T = Decision>(
  request: DecisionRequest,
  options: DecideOptions,
  finish?: Finish<T>,
): MaybePromise<T> {
  const { store, blocked, onDecision } = options
  const { checks } = request
  const start = onDecision === undefined ? undefined : startTime(options)
  const blockedFor = blocked === undefined ? undefined : longestBlock(request.attributes, blocked)
  if (blockedFor !== undefined)
    return finishDecision(blockedDecision(blockedFor), request, options, start, finish)
  // A closure in this function would cost each decision an object, also where it is not used.
  if (checks.length > 0 && (store.sync !== true || hasTrial(checks)))
    return decideInOneCall(request, options, start, finish)
  const fast = checks.length === 1 ? decideOne(request, store) : undefined
  if (fast !== undefined) return finishDecision(fast, request, options, start, finish)
  const verdicts = checks.length === 0 ? NONE : (store as SyncStore).take(checks)
  return finishDecision(new StoreDecision(request, verdicts), request, options, start, finish)
}

/** What the last single unit left; fractions, so that V8 keeps its numbers in place from the start. */
const output: TakeOutput = { now: 0.5, at: 0.5, used: 0.5, before: 0.5 }
output.before = 0

/** Of one unit by one enforced rule, without a verdict; undefined, with nothing charged, if only `take` can decide. */
function decideOne(request: DecisionRequest, store: Store): Decision | undefined {
  const check = request.checks[0]!
  if (check.cost !== 1 || check.shadow === true || check.countRefused === true) return undefined
  // A limit that refuses everything has no states, and would be looked for twice.
  if (check.limit.burst < 1) return undefined
  const allowed = (store as Partial<TakesOne>).takeOne?.(check, output)
  return allowed === undefined ? undefined : new FastDecision(allowed, request, output)
}

/** By a remote store, or with limits on trial, in one call: same instant, same round trip, one promise for all. */
function decideInOneCall<T>(
  request: DecisionRequest,
  options: DecideOptions,
  start: Millis | undefined,
  finish: Finish<T> | undefined,
): MaybePromise<T> {
  const { store } = options
  const { checks } = request
  const hasTrials = hasTrial(checks)
  const finishWith = (verdicts: readonly Verdict[]): T => {
    const own = hasTrials ? verdicts.slice(0, checks.length) : verdicts
    const decision = new StoreDecision(request, own)
    if (hasTrials) withCandidates(decision, checks, own, verdicts.slice(checks.length))
    return finishDecision(decision, request, options, start, finish)
  }
  const all = hasTrials ? [...checks, ...candidateChecks(checks)] : checks
  if ('takeThen' in store) return (store as Store & TakesThen).takeThen(all, finishWith)
  const verdicts = store.take(all)
  return isPromise(verdicts) ? verdicts.then(finishWith) : finishWith(verdicts)
}

/** When an observed decision begins; undefined if it is not measured. */
function startTime({ isTimed }: DecideOptions): Millis | undefined {
  return isTimed === undefined || isTimed() ? preciseClock() : undefined
}

/** Gives a refusal its id, passes the decision to the observer, then to `finish`. `start` is when it began, if it is measured. */
function finishDecision<T = Decision>(
  decision: Decision,
  request: DecisionRequest,
  { onDecision, identify }: DecideOptions,
  start: Millis | undefined,
  finish?: Finish<T>,
): T {
  if (identify !== undefined && !decision.allowed) nameRefusal(decision, request, identify)
  if (onDecision !== undefined) {
    // Two calls: V8 would make an object of a number that is either measured or NaN, for every decision.
    if (start === undefined) onDecision(decision, request, NaN)
    else onDecision(decision, request, preciseClock() - start)
  }
  return finish === undefined ? (decision as T) : finish(decision)
}

/** Gives a refusal its id, which is made when it is read. */
function nameRefusal(
  decision: Decision,
  request: DecisionRequest,
  identify: IdentifyRefusal,
): void {
  if (decision instanceof LazyDecision) decision.nameLater(identify)
  else (decision as { id?: string }).id = identify(decision, request)
}

/**
 * {@link decide} without a promise; undefined, with nothing charged, if the store has to be called, or if the request
 * is blocked or has a limit on trial, which {@link decide} answers.
 */
export function decideNow(request: DecisionRequest, options: DecideOptions): Decision | undefined {
  const { store, blocked } = options
  const { checks } = request
  if (checks.length === 0 || hasTrial(checks)) return undefined
  if (blocked !== undefined && longestBlock(request.attributes, blocked) !== undefined)
    return undefined
  const start = options.onDecision === undefined ? undefined : startTime(options)
  const verdicts = (store as AsyncStore).takeNow?.(checks)
  if (verdicts === undefined) return undefined
  return finishDecision(new StoreDecision(request, verdicts), request, options, start)
}

/**
 * What {@link decide} would answer, without charging anything.
 *
 * @example
 * ```ts
 * const request = matchPolicy(policy)({ user: '42' })
 * const { remaining } = await peekDecision(request, { store })
 * ```
 */
export function peekDecision(
  request: DecisionRequest,
  { store, blocked }: DecideOptions,
): MaybePromise<Decision> {
  const { checks } = request
  const blockedFor = blocked === undefined ? undefined : longestBlock(request.attributes, blocked)
  if (blockedFor !== undefined) return blockedDecision(blockedFor)
  if (checks.length === 0) return new StoreDecision(request, NONE)
  const verdicts = store.peek(checks)
  return isPromise(verdicts)
    ? verdicts.then((all) => new StoreDecision(request, all))
    : new StoreDecision(request, verdicts)
}

/** Whether one of the checks has a limit on trial. */
function hasTrial(checks: readonly RuleCheck[]): boolean {
  for (const { onTrial } of checks) if (onTrial !== undefined) return true
  return false
}

function longestBlock(
  attributes: readonly Attributes[],
  blocked: NonNullable<DecideOptions['blocked']>,
): Millis | undefined {
  let longest: Millis | undefined
  for (const one of attributes) {
    const blockedFor = blocked(one)
    if (blockedFor !== undefined && (longest === undefined || blockedFor > longest))
      longest = blockedFor
  }
  return longest
}

/** The refusal of a blocked request: no rule was matched, and nothing was counted. */
function blockedDecision(blockedFor: Millis): Decision {
  return {
    allowed: false,
    reason: 'blocked',
    rule: null,
    limit: null,
    remaining: 0,
    retryAfter: blockedFor,
    resetAfter: blockedFor,
    delay: 0,
    at: 0,
    degraded: false,
    outcomes: NONE,
    skipped: NONE,
  }
}

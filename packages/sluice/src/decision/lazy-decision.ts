// Decisions. Like the verdicts under them, they compute their numbers when they are read.
import type { ErrorCode } from '../errors.ts'
import type { Limit } from '../limit/limit.ts'
import type { Source, Verdict } from '../limit/verdict.ts'
import type { PlacedLimit } from '../limit/placed-limit.ts'
import type { OnExceed } from '../policy/policy.ts'
import type { Check } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { Candidate, Decision, Outcome, Reason, Skipped } from './decision.ts'

/**
 * A check with the rule that it belongs to.
 *
 * @example
 * ```ts
 * const spaces = matchPolicy(policy)({ user: '42' }).checks.map((check: RuleCheck) => check.space)
 * ```
 */
export interface RuleCheck extends Check {
  readonly rule: {
    readonly name: string
    readonly hidden?: boolean
    readonly shadow?: boolean
    readonly onExceed?: OnExceed
    readonly thresholds?: readonly number[]
  }
  /** The limit on trial next to the check's own, and where it counts. */
  readonly onTrial?: PlacedLimit | undefined
}

/** What a decision keeps of its request. */
export interface DecidedRequest {
  readonly checks: readonly RuleCheck[]
  readonly skipped: readonly Skipped[]
}

/** Makes the id of a decision from the request that it was made from. */
export type IdMaker = (decision: Decision, request: never) => string

/** Every number of a decision, derived from its checks, their verdicts in the same order, and the binding one among them. */
export abstract class LazyDecision implements Decision {
  // Only declared: a field on every decision would slow down those that have none.
  declare readonly candidates?: readonly Candidate[] | undefined
  abstract readonly allowed: boolean
  protected abstract readonly request: DecidedRequest
  protected abstract get verdicts(): readonly Verdict[]
  /** The binding check's place; -1 if no enforced rule applied. */
  protected abstract get binding(): number
  /** The id of a refusal, or what makes it. */
  protected abstract name: string | IdMaker | undefined

  get id(): string | undefined {
    const { name } = this
    if (typeof name !== 'function') return name
    return (this.name = name(this, this.request as never))
  }

  /**
   * Gives the decision its id: made once, when it is first read, because few readers want it. `make` is called with the
   * request that the decision was made from.
   */
  nameLater(make: IdMaker): void {
    this.name = make
  }

  get skipped(): readonly Skipped[] {
    return this.request.skipped
  }

  get reason(): Reason {
    const { binding } = this
    if (this.allowed) return binding < 0 ? 'no-rule' : 'within-limit'
    const { source, lockedOut } = this.verdicts[binding]!
    if (lockedOut === true) return 'locked-out'
    return source === 'closed' ? 'unavailable' : 'over-limit'
  }

  get degraded(): boolean {
    return this.cause !== undefined
  }

  get cause(): ErrorCode | undefined {
    for (const { cause } of this.verdicts) if (cause !== undefined) return cause
    return undefined
  }

  get rule(): string | null {
    return this.request.checks[this.binding]?.rule.name ?? null
  }

  get limit(): Limit | null {
    const { binding } = this
    if (binding < 0) return null
    return this.verdicts[binding]!.appliedLimit ?? this.request.checks[binding]!.limit
  }

  get remaining(): number {
    return this.verdicts[this.binding]?.remaining ?? Infinity
  }

  get retryAfter(): Millis | null {
    return this.allowed ? 0 : this.verdicts[this.binding]!.retryAfter
  }

  get resetAfter(): Millis {
    return this.verdicts[this.binding]?.resetAfter ?? 0
  }

  get delay(): Millis {
    const { verdicts, allowed } = this
    const { checks } = this.request
    let longest = 0
    for (let i = 0; allowed && i < checks.length; i++) {
      const { delay } = verdicts[i]!
      if (delay > longest && checks[i]!.shadow !== true) longest = delay
    }
    return longest
  }

  get at(): Millis {
    return this.verdicts[0]?.at ?? 0
  }

  get outcomes(): readonly Outcome[] {
    const { verdicts } = this
    const { checks } = this.request
    const outcomes = new Array<Outcome>(checks.length)
    for (let i = 0; i < checks.length; i++) outcomes[i] = outcomeOf(checks[i]!, verdicts[i]!)
    return outcomes
  }

  get marked(): readonly string[] | undefined {
    const { verdicts, allowed } = this
    const { checks } = this.request
    let marked: string[] | undefined
    for (let i = 0; allowed && i < checks.length; i++)
      if (isMarked(checks[i]!, verdicts[i]!)) (marked ??= []).push(checks[i]!.rule.name)
    return marked
  }

  get pools(): Readonly<Record<string, string>> | undefined {
    const { verdicts, allowed } = this
    const { checks } = this.request
    let pools: Record<string, string> | undefined
    for (let i = 0; allowed && i < checks.length; i++) {
      const { pool } = verdicts[i]!
      if (pool !== undefined) (pools ??= {})[checks[i]!.rule.name] = pool
    }
    return pools
  }

  /** The outcomes, each of which computes its numbers when they are read. */
  abstract get visible(): readonly VisibleOutcome[]

  /** The decision as plain data. */
  toJSON(): Decision {
    const { allowed, reason, rule, limit, remaining, retryAfter, resetAfter, delay, at } = this
    const { degraded, cause, marked, pools, outcomes, skipped } = this
    const numbers = { remaining, retryAfter, resetAfter, delay, at }
    const why = cause === undefined ? {} : { cause }
    const named = this.id === undefined ? {} : { id: this.id }
    return {
      ...named,
      allowed,
      reason,
      rule,
      limit,
      ...numbers,
      degraded,
      ...why,
      ...(marked !== undefined && { marked }),
      ...(pools !== undefined && { pools }),
      outcomes,
      skipped,
    }
  }
}

/** {@link StoreDecision.bindingIndex} before it was first read. */
const UNKNOWN = -2

/** A decision by the verdicts of a store. */
export class StoreDecision extends LazyDecision {
  readonly allowed: boolean
  protected readonly request: DecidedRequest
  protected readonly verdicts: readonly Verdict[]
  protected name: string | IdMaker | undefined
  private bindingIndex: number
  /** Made once: observers and writers read the same. */
  private knownVisible: readonly VisibleOutcome[] | undefined

  constructor(request: DecidedRequest, verdicts: readonly Verdict[]) {
    super()
    const { checks } = request
    let allowed = true
    // By the checks: a store that has left a verdict out fails here instead of letting the request through.
    for (let i = 0; i < checks.length && allowed; i++)
      allowed = verdicts[i]!.allowed || checks[i]!.shadow === true
    this.allowed = allowed
    this.request = request
    this.verdicts = verdicts
    this.name = undefined
    this.bindingIndex = UNKNOWN
    this.knownVisible = undefined
  }

  get visible(): readonly VisibleOutcome[] {
    if (this.knownVisible !== undefined) return this.knownVisible
    const { request, verdicts } = this
    const { checks } = request
    const outcomes = new Array<VisibleOutcome>(checks.length)
    for (let i = 0; i < checks.length; i++) outcomes[i] = new LazyOutcome(checks[i]!, verdicts[i]!)
    return (this.knownVisible = outcomes)
  }

  protected get binding(): number {
    if (this.bindingIndex === UNKNOWN)
      this.bindingIndex = bindingIndexOf(this.request.checks, this.verdicts)
    return this.bindingIndex
  }
}

// Node's console shows the decision as plain data.
Object.defineProperty(LazyDecision.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value(this: LazyDecision) {
    return this.toJSON()
  },
})

/**
 * What header writers and observers read of an outcome.
 *
 * @example
 * ```ts
 * const tight = visibleOutcomes(decision).filter(({ remaining }: VisibleOutcome) => remaining === 0)
 * ```
 */
export type VisibleOutcome = Pick<
  Outcome,
  | 'rule'
  | 'source'
  | 'limit'
  | 'allowed'
  | 'remaining'
  | 'retryAfter'
  | 'resetAfter'
  | 'availableAfter'
  | 'shadow'
  | 'hidden'
> & { readonly marked?: boolean | undefined }

/**
 * The outcomes of any decision, for readers of a few numbers: faster than `outcomes`.
 *
 * @example
 * ```ts
 * for (const { rule, remaining } of visibleOutcomes(decision)) console.log(rule, remaining)
 * ```
 */
export function visibleOutcomes(decision: Decision): readonly VisibleOutcome[] {
  return decision instanceof LazyDecision ? decision.visible : decision.outcomes
}

function bindingIndexOf(checks: readonly RuleCheck[], verdicts: readonly Verdict[]): number {
  let binding = -1
  for (let i = 0; i < checks.length; i++) {
    if (checks[i]!.shadow === true) continue
    if (binding < 0 || isTighter(verdicts[i]!, verdicts[binding]!)) binding = i
  }
  return binding
}

/** Refusing before allowing; among refusals the longer wait, else the less remaining. */
function isTighter(a: Verdict, b: Verdict): boolean {
  if (a.allowed !== b.allowed) return b.allowed
  if (a.allowed) return a.remaining < b.remaining
  return (a.retryAfter ?? Infinity) > (b.retryAfter ?? Infinity)
}

/** An outcome that computes its numbers when they are read. */
export class LazyOutcome implements VisibleOutcome {
  readonly rule: string
  readonly limit: Limit
  readonly allowed: boolean
  readonly source: Source
  readonly shadow: boolean
  readonly hidden: boolean
  private readonly check: RuleCheck
  private readonly verdict: Verdict
  /** Computed once: several observers read it. */
  private knownRemaining = -1

  constructor(check: RuleCheck, verdict: Verdict) {
    this.rule = check.rule.name
    this.limit = verdict.appliedLimit ?? check.limit
    this.allowed = verdict.allowed
    this.source = verdict.source
    this.shadow = check.shadow ?? false
    this.hidden = check.rule.hidden ?? false
    this.check = check
    this.verdict = verdict
  }

  get remaining(): number {
    if (this.knownRemaining < 0) this.knownRemaining = this.verdict.remaining
    return this.knownRemaining
  }

  get retryAfter(): Millis | null {
    return this.verdict.retryAfter
  }

  get resetAfter(): Millis {
    return this.verdict.resetAfter
  }

  get availableAfter(): Millis {
    return this.verdict.availableAfter
  }

  get marked(): boolean {
    return isMarked(this.check, this.verdict)
  }
}

/** Whether a soft limit would have refused. */
function isMarked({ shadow, candidate, rule }: RuleCheck, { allowed }: Verdict): boolean {
  const isSoft = rule.onExceed === 'mark' && rule.shadow !== true
  return !allowed && shadow === true && candidate !== true && isSoft
}

function outcomeOf(check: RuleCheck, verdict: Verdict): Outcome {
  const { rule, cost, shadow = false } = check
  const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source } = verdict
  const limit = verdict.appliedLimit ?? check.limit
  const { hidden = false } = rule
  const optionalFields = optionalFieldsOf(check, verdict)
  const numbers = { remaining, retryAfter, resetAfter, availableAfter, delay, at }
  if (optionalFields !== undefined)
    return {
      rule: rule.name,
      limit,
      cost,
      allowed,
      ...numbers,
      source,
      ...optionalFields,
      shadow,
      hidden,
    }
  // Not by a spread, which takes most of the time.
  return {
    rule: rule.name,
    limit,
    cost,
    allowed,
    remaining,
    retryAfter,
    resetAfter,
    availableAfter,
    delay,
    at,
    source,
    shadow,
    hidden,
  }
}

/** The fields that few outcomes have; undefined if this one has none of them. */
function optionalFieldsOf(
  check: RuleCheck,
  verdict: Verdict,
): Pick<Outcome, 'cause' | 'lockedOut' | 'pool' | 'marked'> | undefined {
  const { cause, lockedOut, pool } = verdict
  const marked = isMarked(check, verdict)
  if (cause === undefined && lockedOut !== true && pool === undefined && !marked) return undefined
  return {
    ...(cause !== undefined && { cause }),
    ...(lockedOut === true && { lockedOut }),
    ...(pool !== undefined && { pool }),
    ...(marked && { marked }),
  }
}

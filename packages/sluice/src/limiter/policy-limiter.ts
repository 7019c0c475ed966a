// A policy and a store: matches the rules of each request and has its checks decided.
import {
  decideNow,
  decideWith,
  peekDecision,
  type DecideOptions,
  type DecisionRequest,
} from '../decision/decide.ts'
import { candidateChecks } from '../decision/candidates.ts'
import type { Decision, RuleDescription } from '../decision/decision.ts'
import type { RuleCheck } from '../decision/lazy-decision.ts'
import { show, SluiceError } from '../errors.ts'
import { attributeText, isPlain } from '../key/key.ts'
import type { CompiledRule } from '../policy/compile.ts'
import type { Condition, LimitOrNone, PolicyInCode } from '../policy/policy.ts'
import type { Duration } from '../time/duration.ts'
import { Controls, type LimiterControls, type LiveControl } from './controls.ts'
import type { Attributes } from '../policy/policy.ts'
import { poolCheck } from '../stores/pools.ts'
import { isPromise, type Check, type MaybePromise } from '../stores/store.ts'
import { abortable } from '../time/abortable.ts'
import type { Millis } from '../time/clock.ts'
import type { Limiter, PaidPools } from './limiter.ts'
import type { LiveCondition } from './policy-of-limiter.ts'
import { describeRules } from './describe-rules.ts'
import { SkippedRules, type LimiterWarning } from './skipped-rules.ts'
import { isBareRule, matchRules, requireCost, toCheck } from './match-rules.ts'

const NONE: readonly never[] = []

/** What a policy limiter is made from. */
export interface PolicyLimiterOptions {
  readonly rules: readonly CompiledRule[]
  /** What the rules were compiled from. */
  readonly policy: PolicyInCode
  readonly hashKeys: boolean
  /** Whether it was made from a limit instead of a policy. */
  readonly isBareLimit: boolean
  readonly decideOptions: DecideOptions
  /** Receives mistakes that show while the limiter runs. Default: the console. */
  readonly onWarning?: ((warning: LimiterWarning) => void) | undefined
  /** Releases what the limiter itself holds. */
  readonly release: () => MaybePromise<void>
}

/** Decides by compiled rules. Answers at once on a synchronous store, else by promises. */
export class PolicyLimiter implements LimiterControls {
  /** The conditions of the blocks and overrides that apply now; a change replaces the list. */
  conditions: readonly LiveCondition[] = NONE
  protected decideOptions: DecideOptions
  private readonly options: PolicyLimiterOptions
  private rules: readonly CompiledRule[]
  /** Blocks and overrides; made for the first one. */
  private controls: Controls | null = null
  private readonly hashKeys: boolean
  protected readonly accepted: AcceptedInput
  private readonly release: () => MaybePromise<void>
  /** The only rule, when a request is nothing but a key. */
  private only: CompiledRule | null
  /** Whether something besides the rules reads the attributes of a request. */
  private readonly isObserved: boolean
  private isClosed = false
  /** Looks for rules that never apply; null when there is nothing more to find. */
  private skippedRules: SkippedRules | null

  constructor(options: PolicyLimiterOptions) {
    const { rules, hashKeys, isBareLimit, decideOptions, release } = options
    this.options = options
    this.rules = rules
    this.accepted = isBareLimit ? 'key' : rules.some(usesKey) ? 'any' : 'attributes'
    this.decideOptions = decideOptions
    this.hashKeys = hashKeys
    this.release = release
    this.only = onlyRule(options)
    const { blocked, onDecision, identify } = decideOptions
    this.isObserved = [blocked, onDecision, identify].some((one) => one !== undefined)
    const names = rules.map(({ rule }) => rule.name)
    this.skippedRules = new SkippedRules(options.policy.name, names, options.onWarning)
  }

  check(attributes: Attributes | string, cost = 1): MaybePromise<Decision> {
    if (this.only !== null && cost === 1 && typeof attributes === 'string' && isPlain(attributes)) {
      return decideWith(this.requestOf(this.only, attributes), this.decideOptions)
    }
    return decideWith(this.matchRequest(attributes, cost), this.decideOptions)
  }

  checkNow(attributes: Attributes | string, cost = 1): Decision | undefined {
    if (this.only !== null && cost === 1 && typeof attributes === 'string' && isPlain(attributes)) {
      return decideNow(this.requestOf(this.only, attributes), this.decideOptions)
    }
    return decideNow(this.matchRequest(attributes, cost), this.decideOptions)
  }

  peek(attributes: Attributes | string, cost = 1): MaybePromise<Decision> {
    return peekDecision(this.matchRequest(attributes, cost), this.decideOptions)
  }

  refund(
    attributes: Attributes | string,
    cost = 1,
    takenAt?: Millis,
    pools?: PaidPools,
  ): MaybePromise<void> {
    if (takenAt !== undefined && !Number.isSafeInteger(takenAt)) throw badInstant(takenAt)
    const matchedChecks = this.matchRequest(attributes, cost).checks
    const checks = withTrials(
      pools === undefined ? matchedChecks : paidChecks(matchedChecks, pools),
    )
    if (takenAt === undefined) return this.decideOptions.store.refund(checks)
    return this.decideOptions.store.refund(checks.map((check) => ({ ...check, takenAt })))
  }

  reset(attributes: Attributes | string): MaybePromise<void> {
    return this.decideOptions.store.reset(withTrials(this.matchRequest(attributes, 0).checks))
  }

  countFailure(attributes: Attributes | string): MaybePromise<void> {
    const failing = failingChecks(this.matchRequest(attributes, 1).checks)
    if (failing.length === 0) return
    const done = this.decideOptions.store.take(failing)
    if (isPromise(done)) return done.then(() => undefined)
  }

  describe(attributes: Attributes | string, cost = 1): readonly RuleDescription[] {
    requireCost('cost', cost)
    return describeRules(this.rules, parseAttributes(attributes, this.accepted), cost)
  }

  close(): MaybePromise<void> {
    this.isClosed = true
    this.only = null
    return this.release()
  }

  block(who: Condition | string, lasts: Duration): LiveControl {
    return this.ownControls().block(who, lasts)
  }

  override(
    rule: string,
    who: Condition | string,
    limit: LimitOrNone,
    lasts?: Duration,
  ): LiveControl {
    return this.ownControls().override(rule, who, limit, lasts)
  }

  /** Whether decisions may take the shortest path: no block and no override is set. */
  protected get isUncontrolled(): boolean {
    return this.controls === null || this.controls.isEmpty
  }

  private ownControls(): Controls {
    return (this.controls ??= new Controls(this.options.policy, () => this.applyControls()))
  }

  /** Decides by the blocks and overrides that hold now. */
  protected applyControls(): void {
    const { controls, options } = this
    const { blocked } = options.decideOptions
    this.rules = controls!.rules
    this.conditions = controls!.conditions
    this.only = controls!.isEmpty && !this.isClosed ? onlyRule(options) : null
    this.decideOptions = controls!.isEmpty
      ? options.decideOptions
      : {
          ...options.decideOptions,
          blocked: (attributes) => longer(blocked?.(attributes), controls!.blockedFor(attributes)),
        }
  }

  /** One unit of a key by the only rule: what {@link matchRequest} would make. */
  private requestOf(only: CompiledRule, key: string): DecisionRequest {
    // Many requests wait for a remote store, and everything that they hold is garbage later.
    const attributes = this.isObserved ? [{ key }] : NONE
    return { attributes, checks: [toCheck(only, key, 1)], skipped: NONE }
  }

  private matchRequest(attributes: Attributes | string, cost: number): DecisionRequest {
    if (this.isClosed)
      throw new SluiceError(
        'limiter-closed',
        'the limiter is closed; make a new one, or close it later',
      )
    if (cost !== 1) requireCost('cost', cost)
    this.controls?.refresh()
    const parsed = parseAttributes(attributes, this.accepted)
    const request = matchRules(this.rules, parsed, cost, this.hashKeys)
    if (this.skippedRules?.note(request) === false) this.skippedRules = null
    return request
  }
}

/** The limiter of a store that answers later. Misuse rejects instead of throwing, as callers of a promise expect. */
export function withPromises(limiter: PolicyLimiter): Limiter & LimiterControls {
  return {
    check(attributes, cost, signal) {
      // Not an async function: that would add two promises to the one that the store returned.
      try {
        if (signal?.aborted === true) throw signal.reason
        const answer = Promise.resolve(limiter.check(attributes, cost))
        return signal === undefined ? answer : abortable(answer, signal)
      } catch (error) {
        return Promise.reject(error as Error)
      }
    },
    checkNow: (attributes, cost) => limiter.checkNow(attributes, cost),
    peek: async (attributes, cost) => limiter.peek(attributes, cost),
    refund: async (attributes, cost, takenAt, pools) =>
      limiter.refund(attributes, cost, takenAt, pools),
    reset: async (attributes) => limiter.reset(attributes),
    describe: (attributes, cost) => limiter.describe(attributes, cost),
    close: async () => limiter.close(),
    block: (who, lasts) => limiter.block(who, lasts),
    override: (rule, who, limit, lasts) => limiter.override(rule, who, limit, lasts),
    countFailure: async (attributes) => limiter.countFailure(attributes),
  }
}

/** The only rule, when a request is nothing but a key; else null. */
function onlyRule({ rules, hashKeys }: PolicyLimiterOptions): CompiledRule | null {
  return rules.length === 1 && isBareRule(rules[0]!) && !hashKeys ? rules[0]! : null
}

/** The longer of two waits that may be absent. */
function longer(a: Millis | undefined, b: Millis | undefined): Millis | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a
}

/** What a limiter accepts. Anything else would be allowed for lack of a rule, without a warning. */
type AcceptedInput = 'key' | 'attributes' | 'any'

const ACCEPTED: Readonly<Record<AcceptedInput, string>> = {
  key: "a key that is not empty, such as 'user:42', or { key }",
  attributes: "attributes such as { user: '42' }; no rule of this policy uses a key",
  any: "attributes such as { user: '42' }, or a key that is not empty",
}

/** The attributes of a request; a string is the attribute `key`. Throws when the rules can use neither. */
export function parseAttributes(attributes: unknown, accepted: AcceptedInput): Attributes {
  if (typeof attributes === 'string' && attributes !== '' && accepted !== 'attributes')
    return { key: attributes }
  const isObject =
    typeof attributes === 'object' && attributes !== null && !Array.isArray(attributes)
  if (
    isObject &&
    (accepted !== 'key' || attributeText(attributes as Attributes, 'key') !== undefined)
  ) {
    return attributes as Attributes
  }
  throw new SluiceError(
    'invalid-attributes',
    `attributes are ${show(attributes)}; accepted: ${ACCEPTED[accepted]}`,
  )
}

/** Whether a key given as a string matters to a rule. */
function usesKey({ rule, by }: CompiledRule): boolean {
  const conditions = [rule.when ?? {}, ...(rule.overrides ?? []).map(({ when }) => when)]
  const names = [...by, ...conditions.flatMap(Object.keys), rule.tiers?.attribute, rule.cost]
  return by.length === 0 || names.includes('key')
}

/** The checks with those of limits on trial, whose counts are refunded and reset with the others. */
function withTrials(checks: readonly RuleCheck[]): readonly Check[] {
  const candidates = candidateChecks(checks)
  return candidates.length === 0 ? checks : [...checks, ...candidates]
}

/** The checks, of the pools that paid instead of their rules. */
function paidChecks(checks: readonly RuleCheck[], pools: PaidPools): readonly RuleCheck[] {
  const names = new Map(
    typeof pools === 'object' && pools !== null ? Object.entries(pools) : [['', pools]],
  )
  const paid = checks.map((check) => {
    const name = names.get(check.rule.name)
    const pool = name === undefined ? check : poolCheck(check, name)
    if (pool !== undefined) names.delete(check.rule.name)
    return (pool ?? check) as RuleCheck
  })
  for (const [rule, pool] of names)
    throw new SluiceError(
      'invalid-option',
      `pools names the pool ${show(pool)} of the rule ${show(rule)}, which the request has not; accepted: the decision's pools`,
    )
  return paid
}

/** The checks with a lockout, refused and charging nothing, so that each lockout counts a refusal. */
export function failingChecks(checks: readonly RuleCheck[]): readonly Check[] {
  return checks
    .filter(({ lockout }) => lockout !== undefined)
    .map((check) => {
      const limit = { ...check.limit, quota: 0, burst: 0 }
      return { ...check, cost: 1, countRefused: false, limit }
    })
}

function badInstant(value: unknown): SluiceError {
  return new SluiceError(
    'invalid-option',
    `takenAt is ${show(value)}; accepted: the decision's at, in milliseconds`,
  )
}

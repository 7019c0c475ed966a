// The shortest path to leases: one rule that always applies, and a unit that this process has leased.
import type { Decision } from '../decision/decision.ts'
import { LeaseDecision } from '../decision/lease-decision.ts'
import type { DecidedRequest } from '../decision/lazy-decision.ts'
import { isPlain } from '../key/key.ts'
import type { CompiledRule } from '../policy/compile.ts'
import type { Attributes } from '../policy/policy.ts'
import type { AsyncStore, LeasePath, MaybePromise } from '../stores/store.ts'
import { isBareRule, keyOfRule, toCheck } from './match-rules.ts'
import { parseAttributes, PolicyLimiter, type PolicyLimiterOptions } from './policy-limiter.ts'

/** The limiter of one leased rule without observers; undefined if it needs the ordinary path. */
export function leasedLimiter(options: PolicyLimiterOptions): PolicyLimiter | undefined {
  const { rules, decideOptions } = options
  const { store, blocked, onDecision, identify } = decideOptions
  const [rule] = rules
  if (rules.length !== 1 || rule === undefined || !isLeasedRule(rule)) return undefined
  if (blocked !== undefined || onDecision !== undefined || identify !== undefined) return undefined
  const path = (store as AsyncStore).leasePath?.(rule.base!.space, rule.base!.limit)
  return path && new LeasedLimiter(rule, path, options)
}

/** Whether a rule decides every request by one unit of a leased count, and does nothing else. */
function isLeasedRule(rule: CompiledRule): boolean {
  const { coordination, countRefused, shadow, holds, lockout } = rule
  if (coordination !== 'leased' && coordination !== 'auto') return false
  if (countRefused || shadow || holds || lockout !== null || rule.base === null) return false
  const isAlways = rule.applies === null && rule.choose === null && rule.cost === undefined
  return isAlways && rule.candidate === null && rule.pools === null
}

/** Spends one leased unit by the only rule; {@link PolicyLimiter} decides everything else. */
class LeasedLimiter extends PolicyLimiter {
  private readonly rule: CompiledRule
  private readonly request: DecidedRequest
  private readonly isBare: boolean
  private readonly hashes: boolean
  private readonly openPath: LeasePath
  /** Null while an operator's blocks and overrides hold, and after the end. */
  private path: LeasePath | null
  private isEnded = false

  constructor(rule: CompiledRule, path: LeasePath, options: PolicyLimiterOptions) {
    super(options)
    this.rule = rule
    this.request = { checks: [toCheck(rule, '', 1)], skipped: [] }
    this.hashes = options.hashKeys
    this.isBare = isBareRule(rule) && !options.hashKeys
    this.openPath = path
    this.path = path
  }

  override check(attributes: Attributes | string, cost = 1): MaybePromise<Decision> {
    const { path } = this
    if (path !== null && cost === 1) {
      const key = this.keyOf(attributes)
      const verdict = key === undefined ? undefined : path.takeNow(key)
      if (verdict !== undefined) return new LeaseDecision(this.request, verdict)
    }
    return super.check(attributes, cost)
  }

  override checkNow(attributes: Attributes | string, cost = 1): Decision | undefined {
    const { path } = this
    const key = path === null || cost !== 1 ? undefined : this.keyOf(attributes)
    if (key === undefined) return super.checkNow(attributes, cost)
    const verdict = path!.takeNow(key)
    return verdict === undefined ? undefined : new LeaseDecision(this.request, verdict)
  }

  override close(): MaybePromise<void> {
    this.isEnded = true
    this.path = null
    return super.close()
  }

  protected override applyControls(): void {
    super.applyControls()
    this.path = this.isUncontrolled && !this.isEnded ? this.openPath : null
  }

  /** The key of a request; undefined if it needs the ordinary path. */
  private keyOf(attributes: Attributes | string): string | undefined {
    if (typeof attributes === 'string')
      return this.isBare && isPlain(attributes) ? attributes : undefined
    return keyOfRule(this.rule, parseAttributes(attributes, this.accepted), this.hashes)
  }
}

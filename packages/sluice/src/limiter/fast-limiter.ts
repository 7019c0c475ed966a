// The shortest path: one limit, a key given as a string, a store that answers at once.
import type { Decision } from '../decision/decision.ts'
import { FastDecision } from '../decision/fast-decision.ts'
import type { DecidedRequest } from '../decision/lazy-decision.ts'
import { isPlain } from '../key/key.ts'
import type { CompiledRule } from '../policy/compile.ts'
import type { Attributes } from '../policy/policy.ts'
import type { FastPath, FastStore, MaybePromise, TakeOutput } from '../stores/store.ts'
import { leasedLimiter } from './leased-limiter.ts'
import { isBareRule, toCheck } from './match-rules.ts'
import { PolicyLimiter, type PolicyLimiterOptions } from './policy-limiter.ts'

/** The limiter of compiled rules, by the shortest path that they and the store allow. */
export function policyLimiter(options: PolicyLimiterOptions): PolicyLimiter {
  const { rules, hashKeys, decideOptions } = options
  const { store, blocked, onDecision, identify } = decideOptions
  const [only] = rules
  const isOne = rules.length === 1 && only !== undefined && isBareRule(only) && !only.countRefused
  const isObserved = onDecision !== undefined || identify !== undefined
  const isPlain = !hashKeys && blocked === undefined && !isObserved
  if (isOne && isPlain && store.sync === true && only.base !== null) {
    const { space, limit } = only.base
    const fastPath = (store as Partial<FastStore>).fastPath?.(space, limit)
    if (fastPath !== undefined) return new FastLimiter(only, fastPath, options)
  }
  return leasedLimiter(options) ?? new PolicyLimiter(options)
}

/** Decides one unit by the only rule; {@link PolicyLimiter} decides everything else. */
class FastLimiter extends PolicyLimiter {
  private readonly request: DecidedRequest
  private fastPath: FastPath | null
  private readonly openPath: FastPath
  private isEnded = false
  /** What the last decision left; fractions, so that V8 keeps its numbers in place from the start. */
  private readonly output: TakeOutput = { now: 0.5, at: 0.5, used: 0.5, before: 0.5 }

  constructor(only: CompiledRule, fastPath: FastPath, options: PolicyLimiterOptions) {
    super(options)
    this.request = { checks: [toCheck(only, '', 1)], skipped: [] }
    this.fastPath = fastPath
    this.openPath = fastPath
    this.output.before = 0
  }

  override check(attributes: Attributes | string, cost = 1): MaybePromise<Decision> {
    const { fastPath, output } = this
    if (fastPath !== null && cost === 1 && typeof attributes === 'string' && isPlain(attributes)) {
      const allowed = fastPath.take(attributes, output)
      if (allowed !== undefined) return new FastDecision(allowed, this.request, output)
    }
    return super.check(attributes, cost)
  }

  override close(): MaybePromise<void> {
    this.isEnded = true
    this.fastPath = null
    return super.close()
  }

  protected override applyControls(): void {
    super.applyControls()
    this.fastPath = this.isUncontrolled && !this.isEnded ? this.openPath : null
  }
}

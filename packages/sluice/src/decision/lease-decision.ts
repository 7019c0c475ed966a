// The decision of the shortest path to leases: one rule, whose check is the same for every request, and its verdict.
import type { Verdict } from '../limit/verdict.ts'
import type { Skipped } from './decision.ts'
import { LazyDecision, LazyOutcome, type RuleCheck, type VisibleOutcome } from './lazy-decision.ts'

const NONE: readonly never[] = []

/** A request that a lease has allowed, by one enforced rule. */
export class LeaseDecision extends LazyDecision {
  private readonly one: RuleCheck
  private readonly verdict: Verdict

  /** `one`: a check of the rule, with any key. */
  constructor(one: RuleCheck, verdict: Verdict) {
    super()
    this.one = one
    this.verdict = verdict
  }

  get allowed(): boolean {
    return true
  }

  get skipped(): readonly Skipped[] {
    return NONE
  }

  get visible(): readonly VisibleOutcome[] {
    return [new LazyOutcome(this.one, this.verdict)]
  }

  protected get checks(): readonly RuleCheck[] {
    return [this.one]
  }

  protected get verdicts(): readonly Verdict[] {
    return [this.verdict]
  }

  protected get binding(): number {
    return 0
  }
}

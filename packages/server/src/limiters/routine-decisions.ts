// Most decisions of a busy service: by one rule, and not in the sample. Each costs an addition and a lookup of its key.
import type { Decision, DecisionRequest, RuleCheck } from 'sluice'
import type { PolicyMetrics, ResultCounters } from '../metrics/policy-metrics.ts'
import type { RulesObserver } from '../observe/observer.ts'

/** Notes decisions of the rule that decided last; the next request usually has the same. */
export class RoutineDecisions {
  private readonly metrics: PolicyMetrics
  private readonly rules: RulesObserver
  private rule: RuleCheck['rule'] | undefined
  private results: ResultCounters | undefined
  private watch: ReturnType<RulesObserver['watchOf']>

  constructor(metrics: PolicyMetrics, rules: RulesObserver) {
    this.metrics = metrics
    this.rules = rules
  }

  /** Notes a decision that is not in the sample. Returns false, with nothing noted, if the decision needs the full way. */
  note(decision: Decision, { checks, skipped }: DecisionRequest): boolean {
    if (checks.length !== 1 || skipped.length > 0) return false
    const { rule, key, onTrial, lockout } = checks[0]!
    const { watch } = this
    if (rule !== this.rule || onTrial !== undefined) return false
    if (watch === undefined || watch.isGone) return false
    if (!decision.allowed) {
      // The journal has enough refusals of this moment. A block or a lockout has another reason; a block counts at no instant.
      if (!this.rules.isFlooded() || lockout !== undefined || decision.at === 0) return false
      watch.see(key, decision)
      this.results!.refused.add()
      return true
    }
    // A key that had nothing left may have units again.
    if (watch.see(key, decision)) return false
    this.results!.allowed.add()
    return true
  }

  /** Remembers the rule of a decision, if the next one may be noted here. */
  learn({ checks, skipped }: DecisionRequest): void {
    if (checks.length !== 1 || skipped.length > 0) return
    const { rule, shadow } = checks[0]!
    if (rule === this.rule && this.watch?.isGone === false) return
    if (shadow === true) return
    this.rule = rule
    this.results = this.metrics.resultsOf(rule.name)
    this.watch = this.rules.watchOf(rule.name)
  }
}

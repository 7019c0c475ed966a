// Most decisions of a busy service: allowed by one rule, not in the sample. They cost an addition and a hash of their key.
import type { Decision, DecisionRequest, RuleCheck } from 'sluice'
import type { PolicyMetrics } from '../metrics/decision-metrics.ts'
import type { RulesObserver } from '../observe/observer.ts'

/** Notes decisions of the rule that was met last; the next request usually meets the same. */
export class RoutineDecisions {
  private readonly metrics: PolicyMetrics
  private readonly rules: RulesObserver
  private rule: RuleCheck['rule'] | undefined
  private counter: ReturnType<PolicyMetrics['allowedBy']> | undefined
  private watch: ReturnType<RulesObserver['watchOf']>

  constructor(metrics: PolicyMetrics, rules: RulesObserver) {
    this.metrics = metrics
    this.rules = rules
  }

  /** Notes an allowed decision. False, with nothing noted, if it is no routine. */
  note(decision: Decision, { checks, skipped }: DecisionRequest): boolean {
    if (checks.length !== 1 || skipped.length > 0) return false
    const { rule, key, onTrial } = checks[0]!
    const { watch, counter } = this
    if (rule !== this.rule || onTrial !== undefined) return false
    if (watch === undefined || watch.isGone) return false
    // A key that had nothing left may have units again.
    if (watch.see(key, decision)) return false
    counter!.add()
    return true
  }

  /** Learns the rule of a decision that was no routine, if the next one may be. */
  learn(decision: Decision, { checks, skipped }: DecisionRequest): void {
    if (checks.length !== 1 || skipped.length > 0) return
    const { rule, shadow } = checks[0]!
    if (rule === this.rule && this.watch?.isGone === false) return
    if (shadow === true || !decision.allowed) return
    this.rule = rule
    this.counter = this.metrics.allowedBy(rule.name)
    this.watch = this.rules.watchOf(rule.name)
  }
}

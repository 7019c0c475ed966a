// The metrics of what limiters decide, made when rules come into force. Labels come from policies and rules, never from requests.
import type { Family } from './family.ts'
import type { Counter, Histogram } from './series.ts'
import type { MetricRegistry } from './registry.ts'
import { PolicyMetrics, type PolicySeries, type ResultCounters } from './policy-metrics.ts'
import { RuleMetrics, type CountedRule, type CountKeys, type OnUnmet } from './rule-metrics.ts'

/** A named set of rules whose decisions are counted: a policy, or a domain of descriptors. */
export interface CountedRules {
  readonly name: string
  readonly rules: readonly CountedRule[]
}

/** The metrics of all decisions of a service, whatever their protocol. */
export class DecisionMetrics {
  private readonly decisions: Family<Counter>
  private readonly shadowRefusals: Family<Counter>
  private readonly marks: Family<Counter>
  private readonly degraded: Family<Counter>
  private readonly duration: Family<Histogram>
  private readonly cached: Family<Counter>
  private readonly rules: RuleMetrics
  /** The rules in force, by what has put them in force. */
  private readonly inForce = new Map<string, readonly CountedRules[]>()

  constructor(
    metrics: MetricRegistry,
    countKeys: CountKeys = () => ({ distinct: [], atZero: [] }),
    onUnmet: OnUnmet = () => undefined,
  ) {
    this.rules = new RuleMetrics(metrics, countKeys, onUnmet)
    this.cached = metrics.counter(
      'sluice_cached_refusals_total',
      'Refusals that were remembered from the store, without a call.',
      ['policy'],
    )
    this.decisions = metrics.counter(
      'sluice_decisions_total',
      'Decisions by the binding rule; the rule is empty when none applied.',
      ['policy', 'rule', 'result'],
    )
    this.shadowRefusals = metrics.counter(
      'sluice_shadow_refusals_total',
      'Requests that a shadow rule would have refused.',
      ['policy', 'rule'],
    )
    this.marks = metrics.counter(
      'sluice_marked_total',
      'Requests over a soft limit, which marks them and lets them pass.',
      ['policy', 'rule'],
    )
    this.degraded = metrics.counter(
      'sluice_degraded_decisions_total',
      'Decisions that the fallback made because the store could not answer.',
      ['policy'],
    )
    this.duration = metrics.histogram(
      'sluice_decision_duration_seconds',
      'How long decisions took, the store included.',
      ['policy'],
    )
  }

  /** Drops the series of rules that are no longer in force; `source` is what has put these in force. */
  retain(source: string, counted: readonly CountedRules[]): void {
    this.inForce.set(source, counted)
    const names = new Map<string, Set<string>>()
    for (const { name, rules } of [...this.inForce.values()].flat()) {
      const kept = names.get(name) ?? new Set(['', 'other'])
      for (const rule of rules) kept.add(rule.name)
      names.set(name, kept)
    }
    const isKept = ([policy = '', rule = '']: readonly string[]): boolean =>
      policy === 'other' || names.get(policy)?.has(rule) === true
    for (const family of [this.decisions, this.shadowRefusals, this.marks]) family.retain(isKept)
    for (const family of [this.degraded, this.cached, this.duration])
      family.retain(([policy = '']) => isKept([policy, '']))
    this.rules.retain(isKept)
  }

  /**
   * The metrics of one policy, whose decisions a remote store makes or one in this process; every rule's counters are there
   * from the start, at 0.
   */
  of(policy: CountedRules, isRemote = false): PolicyMetrics {
    const results = (name: string): ResultCounters => ({
      allowed: this.decisions.with(policy.name, name, 'allowed'),
      refused: this.decisions.with(policy.name, name, 'refused'),
      unavailable: this.decisions.with(policy.name, name, 'unavailable'),
      // A blocked request is counted under no rule.
      blocked: name === '' ? this.decisions.with(policy.name, name, 'blocked') : undefined,
    })
    const shadows = policy.rules.filter(
      ({ shadow, onExceed }) => shadow === true || onExceed === 'mark',
    )
    const series: PolicySeries = {
      results: new Map(policy.rules.map(({ name }) => [name, results(name)])),
      none: results(''),
      shadows: new Map(
        shadows.map(({ name, shadow }) => [
          name,
          (shadow === true ? this.shadowRefusals : this.marks).with(policy.name, name),
        ]),
      ),
      degraded: this.degraded.with(policy.name),
      duration: this.duration.with(policy.name),
      cached: this.cached.with(policy.name),
      rules: this.rules.of(policy.name, policy.rules),
    }
    return new PolicyMetrics(series, isRemote)
  }
}

// Counts what limiters decide. Labels come from policies and rules, never from requests.
import { visibleOutcomes, type Decision, type DecisionRequest } from 'sluice'
import type { Family } from './family.ts'
import type { Counter, Histogram } from './series.ts'
import type { MetricRegistry } from './registry.ts'
import {
  RuleMetrics,
  type CountedRule,
  type CountKeys,
  type OnUnmet,
  type RuleNotes,
} from './rule-metrics.ts'

/** A named set of rules whose decisions are counted: a policy, or a domain of descriptors. */
export interface CountedRules {
  readonly name: string
  readonly rules: readonly CountedRule[]
}

/** The counters of one rule, ready to be added to. */
interface RuleCounters {
  readonly allowed: Counter
  readonly refused: Counter
  readonly unavailable: Counter
  readonly blocked: Counter | undefined
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

  /** The metrics of one policy; every rule's counters are there from the start, at 0. */
  of(policy: CountedRules): PolicyMetrics {
    const rule = (name: string): RuleCounters => ({
      allowed: this.decisions.with(policy.name, name, 'allowed'),
      refused: this.decisions.with(policy.name, name, 'refused'),
      unavailable: this.decisions.with(policy.name, name, 'unavailable'),
      // A blocked request is counted under no rule.
      blocked: name === '' ? this.decisions.with(policy.name, name, 'blocked') : undefined,
    })
    const shadows = policy.rules.filter(
      ({ shadow, onExceed }) => shadow === true || onExceed === 'mark',
    )
    return new PolicyMetrics(
      new Map(policy.rules.map(({ name }) => [name, rule(name)])),
      rule(''),
      new Map(
        shadows.map(({ name, shadow }) => [
          name,
          (shadow === true ? this.shadowRefusals : this.marks).with(policy.name, name),
        ]),
      ),
      this.degraded.with(policy.name),
      this.duration.with(policy.name),
      this.cached.with(policy.name),
      this.rules.of(policy.name, policy.rules),
    )
  }
}

/** The metrics of one policy. */
export class PolicyMetrics {
  private readonly rules: ReadonlyMap<string, RuleCounters>
  private readonly none: RuleCounters
  private readonly shadows: ReadonlyMap<string, Counter>
  private readonly degraded: Counter
  /** How long decisions took, in milliseconds. */
  readonly duration: Histogram
  private readonly cached: Counter
  /** What is noted rule by rule. */
  readonly ruleNotes: RuleNotes
  /** The rule of the last decision: the next one usually has the same. */
  private lastRule: string | null = null
  private lastCounters: RuleCounters

  constructor(
    rules: ReadonlyMap<string, RuleCounters>,
    none: RuleCounters,
    shadows: ReadonlyMap<string, Counter>,
    degraded: Counter,
    duration: Histogram,
    cached: Counter,
    ruleNotes: RuleNotes,
  ) {
    this.rules = rules
    this.none = none
    this.shadows = shadows
    this.degraded = degraded
    this.duration = duration
    this.cached = cached
    this.ruleNotes = ruleNotes
    this.lastCounters = none
  }

  /** Counts a decision; called for every one of them. */
  count(decision: Decision, { checks }: DecisionRequest): void {
    // The only rule is the binding one, which need not be computed.
    const isOnly = decision.allowed && checks.length === 1 && checks[0]!.shadow !== true
    const rule = isOnly ? checks[0]!.rule.name : decision.rule
    if (rule !== this.lastRule) {
      this.lastRule = rule
      this.lastCounters = rule === null ? this.none : (this.rules.get(rule) ?? this.none)
    }
    if (decision.allowed) this.lastCounters.allowed.add()
    else this.countRefusal(decision)
    const hasShadows = this.shadows.size > 0
    if (hasShadows || decision.skipped.length > 0 || decision.candidates !== undefined)
      this.ruleNotes.count(decision)
    if (hasShadows) this.noteShadows(decision)
  }

  /** The counter of what one rule allows. */
  allowedBy(rule: string): Counter {
    return (this.rules.get(rule) ?? this.none).allowed
  }

  /** The counter of what one rule refuses because its limit is reached. */
  refusedBy(rule: string): Counter {
    return (this.rules.get(rule) ?? this.none).refused
  }

  /** Counts what only decisions of a remote store have: fallbacks, and refusals that were remembered. */
  countRemote(decision: Decision): void {
    if (decision.degraded) this.degraded.add()
    if (!decision.allowed && visibleOutcomes(decision).some(({ source }) => source === 'cache'))
      this.cached.add()
  }

  private countRefusal({ reason }: Decision): void {
    const { unavailable, blocked, refused } = this.lastCounters
    if (reason === 'unavailable') unavailable.add()
    else if (reason === 'blocked') blocked?.add()
    else refused.add()
  }

  private noteShadows(decision: Decision): void {
    for (const { rule, allowed, shadow } of visibleOutcomes(decision)) {
      if (shadow && !allowed) this.shadows.get(rule)?.add()
    }
  }
}

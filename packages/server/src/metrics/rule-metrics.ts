// The metrics of what each rule does, beyond the decisions that it binds: room left, cold keys, missing attributes, limits on trial.
import { limit, type LimitInput, type OnExceed } from 'sluice'
import type { Family } from './family.ts'
import {
  AGES,
  type Counter,
  type Gauge,
  type Histogram,
  SHARES,
  type UnionGauge,
} from './series.ts'
import type { Members } from './hyper-log-log.ts'
import type { MetricRegistry } from './registry.ts'
import { TRIAL_RESULTS, type RuleSeries } from './policy-metrics.ts'

/** A rule whose answers are counted. */
export interface CountedRule {
  readonly name: string
  /** The attributes that make a key. */
  readonly by: readonly string[]
  readonly shadow?: boolean
  readonly onExceed?: OnExceed
  readonly limit?: LimitInput | object
  readonly candidate?: LimitInput
  readonly thresholds?: readonly number[]
}

/** A rule is near its limit when at most this share of it is left. */
const NEAR = 0.2

/** Series of one metric of rules: enough for some thousand rules in a file, and a scrape of few megabytes. */
const MOST_SERIES = 2000
/** Series of one metric that only rules which apply to requests have. */
const MOST_SERIES_OF_APPLIED = 500

/** The keys of a rule, to be counted with those that other processes have seen. */
export interface KeyMembers {
  readonly distinct: Members
  /** Keys that have had nothing left for long. */
  readonly atZero: readonly number[]
}

/** Estimates about the keys of a rule, read at each scrape. */
export type CountKeys = (policy: string, rule: string) => KeyMembers

/** Called once for a rule that was skipped in each of its first requests because one attribute was not known. */
export type OnUnmet = (policy: string, rule: string, missing: string) => void

/** The families of all rules. */
export class RuleMetrics {
  private readonly room: Family<Histogram>
  private readonly ages: Family<Histogram>
  private readonly nearLimit: Family<Counter>
  private readonly coldStarts: Family<Counter>
  private readonly skipped: Family<Counter>
  private readonly trials: Family<Counter>
  private readonly limits: Family<Gauge>
  private readonly distinct: Family<UnionGauge>
  private readonly atZero: Family<UnionGauge>
  private readonly countKeys: CountKeys
  private readonly onUnmet: OnUnmet

  constructor(metrics: MetricRegistry, countKeys: CountKeys, onUnmet: OnUnmet) {
    const rule = ['policy', 'rule']
    this.countKeys = countKeys
    this.onUnmet = onUnmet
    this.room = metrics.histogram(
      'sluice_rule_remaining_ratio',
      'What was left after a decision, as a share of the most at once.',
      rule,
      SHARES,
      MOST_SERIES_OF_APPLIED,
    )
    this.ages = metrics.histogram(
      'sluice_rule_state_age_seconds',
      'How long before a decision the key had last been asked for; of many keys some are followed.',
      rule,
      AGES,
      MOST_SERIES_OF_APPLIED,
    )
    this.nearLimit = metrics.counter(
      'sluice_rule_near_limit_total',
      'Decisions by the rule that left at most a fifth of the limit; a request that another rule refused is none.',
      rule,
      MOST_SERIES,
    )
    this.coldStarts = metrics.counter(
      'sluice_rule_cold_starts_total',
      'Decisions on keys whose count was new or as good as new.',
      rule,
      MOST_SERIES,
    )
    this.skipped = metrics.counter(
      'sluice_rule_skipped_total',
      'Requests for which a rule was skipped because an attribute was not known.',
      [...rule, 'missing'],
      MOST_SERIES,
    )
    this.trials = metrics.counter(
      'sluice_candidate_decisions_total',
      'What a limit on trial, or a shadow rule, would have changed.',
      [...rule, 'result'],
      MOST_SERIES,
    )
    this.limits = metrics.gauge(
      'sluice_rule_limit',
      "The rule's own limit: quota, burst, and the window in seconds.",
      [...rule, 'part'],
      'max',
      MOST_SERIES,
    )
    this.distinct = metrics.unionGauge(
      'sluice_rule_distinct_keys',
      'Different keys in the last one to two minutes, estimated.',
      rule,
      MOST_SERIES,
    )
    this.atZero = metrics.unionGauge(
      'sluice_rule_keys_at_zero',
      'Keys that have had nothing left for over five minutes.',
      rule,
      MOST_SERIES,
    )
  }

  /** Drops the series of rules for which `isKept` returns false. */
  retain(isKept: (labels: readonly string[]) => boolean): void {
    const { room, ages, nearLimit, coldStarts, skipped, trials, limits, distinct, atZero } = this
    const all = [room, ages, nearLimit, coldStarts, skipped, trials, limits, distinct, atZero]
    for (const family of all) family.retain(isKept)
  }

  /** The series of some rules of a policy, by rule; they are there from the start, at 0. */
  of(policy: string, rules: readonly CountedRule[]): ReadonlyMap<string, RuleSeries> {
    return new Map(rules.map((rule) => [rule.name, this.seriesOf(policy, rule)]))
  }

  private seriesOf(policy: string, rule: CountedRule): RuleSeries {
    const { name, by, candidate, shadow } = rule
    const room = this.room.with(policy, name)
    this.nearLimit.with(policy, name).readFrom(() => nearIn(room))
    this.distinct.with(policy, name).readFrom(() => this.countKeys(policy, name).distinct)
    this.atZero.with(policy, name).readFrom(() => this.countKeys(policy, name).atZero)
    if (rule.limit !== undefined && typeof rule.limit !== 'function') {
      const { quota, burst, window, slots } = limit(rule.limit as LimitInput)
      const parts = { quota, burst, ...(slots !== true && { window_seconds: window / 1000 }) }
      for (const [part, value] of Object.entries(parts))
        this.limits.with(policy, name, part).set(value)
    }
    const isOnTrial = candidate !== undefined || shadow === true
    const ways = (isOnTrial ? TRIAL_RESULTS : []).map((way) => [
      way,
      this.trials.with(policy, name, way),
    ])
    return {
      hasApplied: room.count > 0,
      room,
      ages: this.ages.with(policy, name),
      coldStarts: this.coldStarts.with(policy, name),
      skipped: new Map(by.map((missing) => [missing, this.skipped.with(policy, name, missing)])),
      onUnmet: (missing) => this.onUnmet(policy, name, missing),
      trial: isOnTrial ? (Object.fromEntries(ways) as RuleSeries['trial']) : undefined,
    }
  }
}

/** Decisions that left at most {@link NEAR} of the limit. */
function nearIn({ counts }: Histogram): number {
  let near = 0
  for (const [step, edge] of SHARES.edges.entries()) if (edge <= NEAR) near += counts[step]!
  return near
}

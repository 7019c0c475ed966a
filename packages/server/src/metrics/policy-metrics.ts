// Counts the decisions about the rules of one policy: every one of them by its rule and result, those of the sample closely.
import {
  visibleOutcomes,
  type Check,
  type Decision,
  type DecisionRequest,
  type VisibleOutcome,
} from 'sluice'
import type { Counter, Histogram } from './series.ts'

/** The results of decisions by one rule. */
export interface ResultCounters {
  readonly allowed: Counter
  readonly refused: Counter
  readonly unavailable: Counter
  readonly blocked: Counter | undefined
}

/** How the answer of a limit on trial, or of a shadow rule, agreed with the enforced one or differed. */
export const TRIAL_RESULTS = [
  'both-allow',
  'both-refuse',
  'newly-refused',
  'newly-allowed',
] as const

/** What one rule does, beyond the decisions that it binds. */
export interface RuleSeries {
  /** Whether the rule applied to a request that was looked at. */
  hasApplied: boolean
  readonly room: Histogram
  readonly ages: Histogram
  readonly coldStarts: Counter
  readonly skipped: ReadonlyMap<string, Counter>
  readonly onUnmet: (missing: string) => void
  readonly trial: Readonly<Record<(typeof TRIAL_RESULTS)[number], Counter>> | undefined
}

/** The series of one policy, ready to be added to; the maps are by rule. */
export interface PolicySeries {
  readonly results: ReadonlyMap<string, ResultCounters>
  /** For decisions that no rule made. */
  readonly none: ResultCounters
  /** What shadow rules would have refused, and what soft limits have marked. */
  readonly shadows: ReadonlyMap<string, Counter>
  readonly degraded: Counter
  readonly duration: Histogram
  readonly cached: Counter
  readonly rules: ReadonlyMap<string, RuleSeries>
}

/** After so many skipped requests, a rule that never applied is reported. */
const UNMET = 1000

/** The metrics of one policy. */
export class PolicyMetrics {
  private readonly series: PolicySeries
  private readonly isRemote: boolean
  private readonly hasShadows: boolean
  /** How long decisions took, in milliseconds. */
  readonly duration: Histogram
  /** The rule of the last decision: the next one usually has the same. */
  private lastRule: string | null = null
  private lastResults: ResultCounters

  /** With `isRemote`, also what only decisions of a remote store have: fallbacks, and refusals that were remembered. */
  constructor(series: PolicySeries, isRemote: boolean) {
    this.series = series
    this.isRemote = isRemote
    this.hasShadows = series.shadows.size > 0
    this.duration = series.duration
    this.lastResults = series.none
  }

  /** Counts a decision; called for every one of them. */
  count(decision: Decision, { checks }: DecisionRequest): void {
    // The only rule is the binding one, which need not be computed.
    const isOnly = decision.allowed && checks.length === 1 && checks[0]!.shadow !== true
    const rule = isOnly ? checks[0]!.rule.name : decision.rule
    if (rule !== this.lastRule) {
      this.lastRule = rule
      this.lastResults = this.resultsOf(rule)
    }
    if (decision.allowed) this.lastResults.allowed.add()
    else this.countRefusal(decision)
    if (this.isRemote && decision.degraded) this.series.degraded.add()
    if (this.hasShadows) this.countShadows(decision)
    if (decision.skipped.length > 0) this.countSkipped(decision)
    if (decision.candidates !== undefined) this.countCandidates(decision)
  }

  /** Notes what a decision left; it stands for `weight` decisions. */
  measure(
    decision: Decision,
    checks: DecisionRequest['checks'],
    outcomes: readonly VisibleOutcome[],
    weight: number,
  ): void {
    for (let i = 0; i < outcomes.length; i++) {
      const outcome = outcomes[i]!
      const series = this.series.rules.get(outcome.rule)
      if (series === undefined) continue
      const { remaining, allowed } = outcome
      const check = checks[i]
      series.hasApplied = true
      // Another rule refused the request, so that it left this count as it was.
      if (allowed && check !== undefined && !isCharged(decision, check, outcome)) continue
      const { burst } = outcome.limit
      series.room.observe(burst === 0 ? 0 : remaining / burst, weight)
      const cost = check?.cost ?? 0
      if (allowed && cost > 0 && remaining + cost >= burst) series.coldStarts.add(weight)
    }
  }

  /** The counters of what one rule decides; those of no rule for one that is not known. */
  resultsOf(rule: string | null): ResultCounters {
    const { results, none } = this.series
    return rule === null ? none : (results.get(rule) ?? none)
  }

  /** Receives how old the counts of a rule are. */
  agesOf(rule: string): Histogram | undefined {
    return this.series.rules.get(rule)?.ages
  }

  private countRefusal(decision: Decision): void {
    const { unavailable, blocked, refused } = this.lastResults
    const { reason } = decision
    if (reason === 'unavailable') unavailable.add()
    else if (reason === 'blocked') blocked?.add()
    else refused.add()
    if (this.isRemote && visibleOutcomes(decision).some(({ source }) => source === 'cache'))
      this.series.cached.add()
  }

  private countShadows(decision: Decision): void {
    const { rules, shadows } = this.series
    for (const { rule, allowed, shadow } of visibleOutcomes(decision)) {
      if (!shadow) continue
      if (!allowed) shadows.get(rule)?.add()
      countTrial(rules.get(rule), decision.allowed, decision.allowed && allowed)
    }
  }

  private countCandidates({ candidates = [] }: Decision): void {
    for (const { rule, enforced, allowed } of candidates)
      countTrial(this.series.rules.get(rule), enforced, allowed)
  }

  /** A count that a reload finds is beyond the number: a rule is reported once in the life of a process. */
  private countSkipped({ skipped }: Decision): void {
    for (let i = 0; i < skipped.length; i++) {
      const { rule, missing } = skipped[i]!
      const series = this.series.rules.get(rule)
      const counter = missing === undefined ? undefined : series?.skipped.get(missing)
      if (counter === undefined) continue
      counter.add()
      if (counter.value === UNMET && !series!.hasApplied) series!.onUnmet(missing!)
    }
  }
}

function countTrial(series: RuleSeries | undefined, enforced: boolean, onTrial: boolean): void {
  const trial = series?.trial
  if (trial === undefined) return
  if (enforced) trial[onTrial ? 'both-allow' : 'newly-refused'].add()
  else trial[onTrial ? 'newly-allowed' : 'both-refuse'].add()
}

/**
 * Whether a check of a decision was charged: all or none, so that a refused request is charged only where refusals count.
 */
export function isCharged(
  { allowed }: Pick<Decision, 'allowed'>,
  { countRefused }: Pick<Check, 'countRefused'>,
  outcome: Pick<VisibleOutcome, 'allowed'>,
): boolean {
  return outcome.allowed && (allowed || countRefused === true)
}

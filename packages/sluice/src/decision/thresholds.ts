// Events when a key has used so many percent of a quota: once for each crossing, and not again within the same window.
import type { Limit } from '../limit/limit.ts'
import type { Attributes } from '../policy/policy.ts'
import { periodAt, type Calendar } from '../time/calendar.ts'
import type { Millis } from '../time/clock.ts'
import type { DecisionRequest, OnDecision } from './decide.ts'
import type { Decision } from './decision.ts'
import { visibleOutcomes, type RuleCheck, type VisibleOutcome } from './lazy-decision.ts'

/**
 * A key that has crossed a threshold of a rule.
 *
 * @example
 * ```ts
 * const text = ({ rule, key, threshold }: ThresholdEvent) => `${key}: ${threshold} % of ${rule}`
 * ```
 */
export interface ThresholdEvent {
  readonly rule: string
  /** The key as the store knows it. */
  readonly key: string
  /** What the request was known by. */
  readonly attributes: Attributes
  /** Percent of the quota. */
  readonly threshold: number
  /** Units that are used, of the most that the limit admits at once. */
  readonly used: number
  readonly limit: Limit
  /** The instant of the decision, and until when the same threshold of this key is not reported again. */
  readonly at: Millis
  readonly quietUntil: Millis
}

/**
 * What a settlement of a budget charged in one count.
 *
 * @example
 * ```ts
 * const inDebt = ({ debt }: SettledCheck): boolean => debt > 0
 * ```
 */
export interface SettledCheck {
  readonly check: RuleCheck
  readonly charged: number
  readonly remaining: number
  /** Units by which the count is beyond its limit. */
  readonly debt: number
  readonly at: Millis
}

/**
 * Called after each settlement that charged something. It must not throw.
 *
 * @example
 * ```ts
 * const onSettled: OnSettled = (settled) => console.log(settled.map(({ charged }) => charged))
 * ```
 */
export type OnSettled = (settled: readonly SettledCheck[], attributes: Attributes) => void

/**
 * Observes decisions and, of budgets, settlements: `createBudget({ policy, onDecision: watch, onSettled: watch.settled })`.
 *
 * @example
 * ```ts
 * const watch: ThresholdWatch = watchThresholds((event) => notify(event))
 * createLimiter({ policy, onDecision: watch })
 * ```
 */
export interface ThresholdWatch extends OnDecision {
  readonly settled: OnSettled
}

/** Crossings that are remembered at most; beyond that the oldest is forgotten and may be reported again. */
const MAX_CROSSINGS = 10_000

/**
 * Observes decisions and reports the thresholds of rules (`thresholds: [80, 100]`) that keys cross, each once per key and
 * window: the process that made the crossing reports it. At 100 % the quota is full, or the rule refuses what is left.
 * Decisions of a fallback are not looked at, since they know only their share. The listener must not throw.
 *
 * @example
 * ```ts
 * const onDecision = watchThresholds(({ rule, key, threshold }) => notify(rule, key, threshold))
 * const limiter = createLimiter({ policy, onDecision })
 * ```
 */
export function watchThresholds(listener: (event: ThresholdEvent) => void): ThresholdWatch {
  const quiet = new Map<string, Millis>()
  const onDecision: OnDecision = (decision, request) => {
    if (decision.degraded || !request.checks.some(hasThresholds)) return
    const outcomes = visibleOutcomes(decision)
    for (const [i, check] of request.checks.entries()) {
      const outcome = outcomes[i]
      if (outcome === undefined || !hasThresholds(check)) continue
      for (const threshold of crossedBy(check, outcome, decision))
        report(quiet, listener, eventOf(check, outcome, request, decision.at, threshold))
    }
  }
  const settled: OnSettled = (counts, attributes) => {
    for (const count of counts)
      for (const threshold of crossedBySettling(count))
        report(quiet, listener, eventOfSettling(count, attributes, threshold))
  }
  return Object.assign(onDecision, { settled })
}

/** The thresholds that the charge has crossed. Those that the hold had crossed before are quiet by now. */
function crossedBySettling({ check, charged, remaining, debt }: SettledCheck): readonly number[] {
  const { burst } = check.limit
  const used = burst - remaining + debt
  return (check.rule.thresholds ?? []).filter((threshold) => {
    const units = (threshold / 100) * burst
    return used - charged < units && used >= units
  })
}

function eventOfSettling(
  { check, remaining, debt, at }: SettledCheck,
  attributes: Attributes,
  threshold: number,
): ThresholdEvent {
  const { rule, key, limit } = check
  const used = limit.burst - remaining + debt
  const quietUntil = endOfWindow(limit, at)
  return { rule: rule.name, key, attributes, threshold, used, limit, at, quietUntil }
}

/** When a window that holds this instant ends; one window later, where windows slide or begin with a request. */
function endOfWindow(limit: Limit, at: Millis): Millis {
  if (limit.calendar !== undefined) return periodAt(limit as Calendar, at).end
  if (limit.algorithm !== 'fixed-window' || limit.anchor !== undefined) return at + limit.window
  return at - (at % limit.window) + limit.window
}

function hasThresholds({ rule }: RuleCheck): boolean {
  return rule.thresholds !== undefined
}

/** The thresholds that the request has crossed. */
function crossedBy(
  { rule, cost }: RuleCheck,
  outcome: VisibleOutcome,
  { allowed, pools }: Decision,
): readonly number[] {
  // A pool paid: the limit was full before.
  if (pools?.[rule.name] !== undefined) return []
  const { burst } = outcome.limit
  const used = burst - outcome.remaining
  const isCharged = allowed && outcome.allowed
  const before = isCharged ? used - cost : used
  return rule.thresholds!.filter((threshold) => {
    const units = (threshold / 100) * burst
    if (before < units && used >= units) return true
    // Too little is left for this request, so the quota counts as full.
    return threshold === 100 && !outcome.allowed && outcome.remaining > 0
  })
}

function eventOf(
  { rule, key }: RuleCheck,
  outcome: VisibleOutcome,
  { attributes }: DecisionRequest,
  at: Millis,
  threshold: number,
): ThresholdEvent {
  const { limit, remaining, resetAfter } = outcome
  const quietFor = limit.algorithm === 'fixed-window' ? resetAfter : limit.window
  return {
    rule: rule.name,
    key,
    attributes: attributes[0] ?? { key },
    threshold,
    used: limit.burst - remaining,
    limit,
    at,
    quietUntil: at + quietFor,
  }
}

function report(
  quiet: Map<string, Millis>,
  listener: (event: ThresholdEvent) => void,
  event: ThresholdEvent,
): void {
  const name = `${event.threshold} ${event.rule.length} ${event.rule}${event.key}`
  const until = quiet.get(name)
  if (until !== undefined && event.at < until) return
  quiet.delete(name)
  quiet.set(name, event.quietUntil)
  if (quiet.size > MAX_CROSSINGS) quiet.delete(quiet.keys().next().value!)
  listener(event)
}

// From two readings to what is shown: rates, shares and quantiles, as plain data.
import type { Offender } from './admin.ts'
import type { Reading, RuleTotals } from './reading.ts'

/** Rates per second of one rule. */
export interface RuleRates {
  readonly policy: string
  readonly rule: string
  readonly allowed: number
  readonly refused: number
  readonly unavailable: number
  readonly blocked: number
}

/** What the operator may see when there is a token. */
export interface Operators {
  readonly offenders: readonly Offender[]
  /** Why there are none to show; null when they were read. */
  readonly problem: string | null
}

/** Everything on the screen. Rates are per second, durations in milliseconds. */
export interface View {
  readonly url: string
  readonly version: string
  readonly status: 'serving' | 'not ready' | 'unreachable'
  readonly decisions: number
  readonly refused: number
  readonly blocked: number
  readonly unavailable: number
  readonly degraded: number
  /** Null when nothing was decided. */
  readonly p50: number | null
  readonly p99: number | null
  readonly breakers: Readonly<Record<string, string>>
  readonly keys: number | null
  readonly memory: number
  readonly blocks: number | null
  readonly overrides: number | null
  /** By policy, in the file's order. */
  readonly rules: readonly RuleRates[]
  readonly offenders: readonly Offender[]
  readonly offendersProblem: string | null
}

/** The view of the time between two readings. */
export function viewOf(
  url: string,
  before: Reading,
  now: Reading,
  { offenders, problem }: Operators,
): View {
  const seconds = Math.max((now.at - before.at) / 1000, 0.001)
  const earlier = new Map(before.rules.map((one) => [idOf(one), one]))
  const rules = now.rules.map((totals): RuleRates => {
    const then = earlier.get(idOf(totals))
    const rate = (name: Result): number => grown(then?.[name] ?? 0, totals[name]) / seconds
    const { policy, rule } = totals
    return {
      policy,
      rule,
      allowed: rate('allowed'),
      refused: rate('refused'),
      unavailable: rate('unavailable'),
      blocked: rate('blocked'),
    }
  })
  const sum = (name: Result): number => rules.reduce((all, one) => all + one[name], 0)
  const [refused, blocked, unavailable] = [sum('refused'), sum('blocked'), sum('unavailable')]
  return {
    url,
    version: now.version,
    status: now.isReady ? 'serving' : 'not ready',
    decisions: sum('allowed') + refused + blocked + unavailable,
    refused,
    blocked,
    unavailable,
    degraded: grown(before.degraded, now.degraded) / seconds,
    p50: quantile(before, now, 0.5),
    p99: quantile(before, now, 0.99),
    breakers: Object.fromEntries(now.breakers),
    keys: now.keys,
    memory: now.memory,
    blocks: now.blocks,
    overrides: now.overrides,
    rules,
    offenders,
    offendersProblem: problem,
  }
}

type Result = 'allowed' | 'refused' | 'unavailable' | 'blocked'

function idOf({ policy, rule }: RuleTotals): string {
  return JSON.stringify([policy, rule])
}

/** How much a counter has grown; one that is smaller than before has begun again at 0. */
function grown(before: number, now: number): number {
  return now >= before ? now - before : now
}

/** In milliseconds, by a straight line within a step of the histogram, as Prometheus does. */
function quantile(before: Reading, now: Reading, part: number): number | null {
  const then = new Map(before.durations)
  const restarted = now.durations.some(([edge, count]) => count < (then.get(edge) ?? 0))
  const counts = now.durations.map(([edge, count]) => ({
    edge,
    count: restarted ? count : count - (then.get(edge) ?? 0),
  }))
  const total = counts.at(-1)?.count ?? 0
  if (total === 0) return null
  const wanted = part * total
  let below = { edge: 0, count: 0 }
  for (const step of counts) {
    if (step.count >= wanted) {
      // Beyond the last edge nothing more is known.
      if (step.edge === Infinity) return below.edge * 1000
      const share = (wanted - below.count) / Math.max(step.count - below.count, 1)
      return (below.edge + (step.edge - below.edge) * share) * 1000
    }
    below = step
  }
  return null
}

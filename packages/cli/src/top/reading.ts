// The metrics of a service at one instant: totals since its start, not rates.
import { readExposition, type Sample } from './exposition.ts'

/** Totals of one rule; the rule is '' where none applied. */
export interface RuleTotals {
  readonly policy: string
  readonly rule: string
  readonly allowed: number
  readonly refused: number
  readonly unavailable: number
  readonly blocked: number
}

/** The totals at one instant. */
export interface Reading {
  /** In milliseconds. */
  readonly at: number
  readonly version: string
  readonly isReady: boolean
  readonly rules: readonly RuleTotals[]
  readonly degraded: number
  /** Decisions by how long they took at most, in seconds; the last is Infinity. */
  readonly durations: readonly (readonly [edge: number, count: number])[]
  /** Policies by the state of their breaker. */
  readonly breakers: readonly (readonly [policy: string, state: string])[]
  /** Null when the counts are not in the process. */
  readonly keys: number | null
  readonly memory: number
  readonly blocks: number | null
  readonly overrides: number | null
}

type Metrics = ReturnType<typeof readExposition>

/** Reads `/metrics`; undefined when the text is not from a decision service. */
export function readMetrics(text: string, at: number): Reading | undefined {
  const metrics = readExposition(text)
  const version = metrics.get('sluice_build_info')?.[0]?.labels['version']
  if (version === undefined) return undefined
  return {
    at,
    version,
    isReady: (only(metrics, 'sluice_ready') ?? 0) > 0,
    rules: rulesIn(metrics.get('sluice_decisions_total') ?? []),
    degraded: sumOf(metrics.get('sluice_degraded_decisions_total') ?? []),
    durations: durationsIn(metrics.get('sluice_decision_duration_seconds_bucket') ?? []),
    breakers: (metrics.get('sluice_breaker_state') ?? [])
      .filter(({ value }) => value > 0)
      .map(({ labels }) => [labels['policy'] ?? '', labels['state'] ?? '']),
    keys: only(metrics, 'sluice_store_keys'),
    memory: only(metrics, 'process_resident_memory_bytes') ?? 0,
    blocks: only(metrics, 'sluice_blocks'),
    overrides: only(metrics, 'sluice_live_overrides'),
  }
}

const RESULTS = ['allowed', 'refused', 'unavailable', 'blocked'] as const

function rulesIn(samples: readonly Sample[]): readonly RuleTotals[] {
  const rules = new Map<string, RuleTotals>()
  for (const { labels, value } of samples) {
    const { policy = '', rule = '' } = labels
    const result = RESULTS.find((one) => one === labels['result'])
    if (result === undefined) continue
    const id = JSON.stringify([policy, rule])
    const none = { policy, rule, allowed: 0, refused: 0, unavailable: 0, blocked: 0 }
    const totals = rules.get(id) ?? none
    rules.set(id, { ...totals, [result]: totals[result] + value })
  }
  return [...rules.values()]
}

function durationsIn(samples: readonly Sample[]): readonly (readonly [number, number])[] {
  const byEdge = new Map<number, number>()
  for (const { labels, value } of samples) {
    const { le = '' } = labels
    const edge = le === '+Inf' ? Infinity : Number(le)
    byEdge.set(edge, (byEdge.get(edge) ?? 0) + value)
  }
  return [...byEdge].toSorted(([a], [b]) => a - b)
}

function only(metrics: Metrics, name: string): number | null {
  return metrics.get(name)?.[0]?.value ?? null
}

function sumOf(samples: readonly Sample[]): number {
  return samples.reduce((sum, { value }) => sum + value, 0)
}

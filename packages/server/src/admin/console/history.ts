// What the console draws over time: one small record a second, kept for ten minutes, whatever the number of viewers.
import type { Millis } from 'sluice'
import { readExposition, type SeriesValue } from './read-exposition.ts'

/** Seconds that are kept. */
const MAX_TICKS = 600
/** Rules that are drawn; the others are counted together. */
const MAX_RULES = 60
/** The name under which the other rules are counted. */
const OTHER = { policy: '', rule: 'other rules' }

const BUCKETS = 'sluice_decision_duration_seconds_bucket'
const STORE_BUCKETS = 'sluice_store_duration_seconds_bucket'
const LEVEL_BUCKETS = 'sluice_rule_remaining_ratio_bucket'
const METRICS: ReadonlySet<string> = new Set([
  'sluice_decisions_total',
  'sluice_shadow_refusals_total',
  'sluice_candidate_decisions_total',
  'sluice_degraded_decisions_total',
  'sluice_breaker_state',
  'sluice_config_generation',
  'sluice_config_valid',
  'sluice_store_keys',
  'sluice_units_out',
  BUCKETS,
  STORE_BUCKETS,
  LEVEL_BUCKETS,
])

/** A rule that is drawn, by its place in the list. */
export interface RuleName {
  readonly policy: string
  readonly rule: string
}

/** What happened to a rule within one second: allowed, refused, unavailable, refused by its shadow or candidate. */
type RuleCounts = readonly [
  rule: number,
  allowed: number,
  refused: number,
  unavailable: number,
  shadow: number,
]

/** One second of the service. */
export interface Tick {
  /** The end of the second, in milliseconds since 1970. */
  readonly t: Millis
  /** Only rules that decided something. */
  readonly rules: readonly RuleCounts[]
  /** Refused by operators. */
  readonly blocked: number
  /** Decided without the store. */
  readonly degraded: number
  /** Milliseconds that decisions took, as the upper edge of a step; null when there was none. */
  readonly p50: Millis | null
  readonly p99: Millis | null
  /** The same for calls to the store. */
  readonly store: readonly [p50: Millis | null, p99: Millis | null]
  /** Decisions by what was left of the quota, from nothing to full, in steps. */
  readonly levels: readonly number[]
  readonly breaker: 'closed' | 'half-open' | 'open'
  readonly keys: number | null
  readonly generation: number
  readonly valid: boolean
  /** Units out in leases, holds and slots, by kind. */
  readonly out: Readonly<Record<string, number>>
}

/** Everything that is kept. */
export interface History {
  readonly names: readonly RuleName[]
  readonly ticks: readonly Tick[]
}

/** Samples the metrics. */
export class Sampler {
  private readonly readMetrics: (names: ReadonlySet<string>) => string | Promise<string>
  private readonly names: RuleName[] = []
  private readonly places = new Map<string, number>()
  private last = new Map<string, number>()
  private ticks: Tick[] = []

  /** `readMetrics` gives the exposition; lines of other names may be missing. */
  constructor(readMetrics: (names: ReadonlySet<string>) => string | Promise<string>) {
    this.readMetrics = readMetrics
  }

  get history(): History {
    return { names: this.names, ticks: this.ticks }
  }

  /** Reads the metrics and appends what happened since the last time; nothing at the first. */
  async sample(now: Millis): Promise<Tick | undefined> {
    const found = readExposition(await this.readMetrics(METRICS), METRICS)
    const isFirst = this.last.size === 0
    const before = this.last
    const after = new Map<string, number>([['', now]])
    this.last = after
    /** How much a counter has grown. */
    const grown = (name: string, { labels, value }: SeriesValue): number => {
      const id = `${name} ${Object.values(labels).join(' ')}`
      after.set(id, value)
      // A series that is new has grown from 0; one that went back belongs to a process that was replaced.
      return isFirst ? 0 : Math.max(0, value - (before.get(id) ?? 0))
    }
    const tick = this.tickOf(found, grown, now)
    if (isFirst) return undefined
    this.ticks.push(tick)
    if (this.ticks.length > MAX_TICKS) this.ticks = this.ticks.slice(-MAX_TICKS)
    return tick
  }

  private tickOf(
    found: ReadonlyMap<string, readonly SeriesValue[]>,
    grown: (name: string, series: SeriesValue) => number,
    now: Millis,
  ): Tick {
    const all = (name: string): readonly SeriesValue[] => found.get(name) ?? []
    const sum = (name: string): number =>
      all(name).reduce((total, series) => total + grown(name, series), 0)
    const gauge = (name: string): number | null => all(name)[0]?.value ?? null
    const rules = new Map<number, [number, number, number, number, number]>()
    const countsOf = ({ labels }: SeriesValue) => {
      const place = this.placeOf(labels['policy'] ?? '', labels['rule'] ?? '')
      const counts = rules.get(place) ?? [place, 0, 0, 0, 0]
      rules.set(place, counts)
      return counts
    }
    let blocked = 0
    for (const series of all('sluice_decisions_total')) {
      const count = grown('sluice_decisions_total', series)
      if (count === 0) continue
      const { result } = series.labels
      if (result === 'blocked') blocked += count
      else countsOf(series)[result === 'allowed' ? 1 : result === 'refused' ? 2 : 3]! += count
    }
    // Shadow rules of policies are among those on trial too.
    const trials = new Set(all('sluice_candidate_decisions_total').map(ruleOf))
    for (const series of all('sluice_shadow_refusals_total')) {
      const count = grown('sluice_shadow_refusals_total', series)
      if (count > 0 && !trials.has(ruleOf(series))) countsOf(series)[4] += count
    }
    for (const series of all('sluice_candidate_decisions_total')) {
      const count = grown('sluice_candidate_decisions_total', series)
      if (count > 0 && series.labels['result'] === 'newly-refused') countsOf(series)[4] += count
    }
    const decisions = stepsOf(all(BUCKETS), (series) => grown(BUCKETS, series))
    const store = stepsOf(all(STORE_BUCKETS), (series) => grown(STORE_BUCKETS, series))
    const levels = stepsOf(all(LEVEL_BUCKETS), (series) => grown(LEVEL_BUCKETS, series))
    return {
      t: now,
      rules: [...rules.values()],
      blocked,
      degraded: sum('sluice_degraded_decisions_total'),
      p50: quantile(decisions, 0.5),
      p99: quantile(decisions, 0.99),
      store: [quantile(store, 0.5), quantile(store, 0.99)],
      levels: levels.map(({ count }) => count),
      breaker: breakerOf(all('sluice_breaker_state')),
      keys: gauge('sluice_store_keys'),
      generation: gauge('sluice_config_generation') ?? 0,
      valid: gauge('sluice_config_valid') !== 0,
      out: Object.fromEntries(
        all('sluice_units_out').map(({ labels, value }) => [labels['kind'] ?? '', value]),
      ),
    }
  }

  private placeOf(policy: string, rule: string): number {
    const id = `${policy} ${rule}`
    const known = this.places.get(id)
    if (known !== undefined) return known
    const isFull = this.names.length >= MAX_RULES
    const place = isFull ? MAX_RULES : this.names.length
    if (this.names.length <= MAX_RULES) this.names.push(isFull ? OTHER : { policy, rule })
    this.places.set(id, place)
    return place
  }
}

function ruleOf({ labels }: SeriesValue): string {
  return JSON.stringify([labels['policy'], labels['rule']])
}

interface Step {
  readonly edge: number
  readonly count: number
}

/** The steps of histograms added up, each with its own count rather than that of all below it. */
function stepsOf(
  series: readonly SeriesValue[],
  grown: (series: SeriesValue) => number,
): readonly Step[] {
  const below = new Map<number, number>()
  for (const one of series) {
    const { le } = one.labels
    const edge = le === '+Inf' ? Infinity : Number(le)
    below.set(edge, (below.get(edge) ?? 0) + grown(one))
  }
  let total = 0
  return [...below]
    .toSorted(([a], [b]) => a - b)
    .map(([edge, count]) => {
      const own = Math.max(0, count - total)
      total = count
      return { edge, count: own }
    })
}

/** The upper edge, in milliseconds, of the step in which the quantile lies. */
function quantile(steps: readonly Step[], share: number): Millis | null {
  const total = steps.reduce((sum, { count }) => sum + count, 0)
  if (total === 0) return null
  let seen = 0
  for (const { edge, count } of steps) {
    seen += count
    if (seen >= total * share) return edge === Infinity ? 10_000 : edge * 1000
  }
  return null
}

function breakerOf(series: readonly SeriesValue[]): Tick['breaker'] {
  const isIn = (state: string): boolean =>
    series.some(({ labels, value }) => labels['state'] === state && value > 0)
  return isIn('open') ? 'open' : isIn('half-open') ? 'half-open' : 'closed'
}

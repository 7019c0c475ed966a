// The kinds of metrics: counters, gauges and histograms. One addition costs a few nanoseconds.
import type { Series } from './family.ts'
import { sizeOfUnion, type Members } from './hyper-log-log.ts'

/** Something that only grows. */
export class Counter implements Series {
  value = 0

  add(units = 1): void {
    this.value += units
  }

  /** Counted elsewhere: read at each scrape. */
  readFrom(value: () => number): void {
    Object.defineProperty(this, 'value', { get: value })
  }

  lines(name: string, labels: string): readonly string[] {
    return [`${name}${labels} ${this.value}`]
  }
}

/** A value that goes up and down: set, or read at each scrape. */
export class Gauge implements Series {
  private value: () => number = () => 0

  set(value: number): void {
    this.value = () => value
  }

  readFrom(value: () => number): void {
    this.value = value
  }

  lines(name: string, labels: string): readonly string[] {
    return [`${name}${labels} ${this.value()}`]
  }
}

/** The number of different things, of which several processes may have seen the same; read at each scrape. */
export class UnionGauge implements Series {
  private read: () => Members = () => []

  readFrom(members: () => Members): void {
    this.read = members
  }

  get members(): Members {
    return this.read()
  }

  lines(name: string, labels: string): readonly string[] {
    return [`${name}${labels} ${sizeOfUnion([this.members])}`]
  }
}

/** The upper edges of a histogram, and how a value is written: durations are noted in milliseconds and shown in seconds. */
export interface Scale {
  readonly edges: readonly number[]
  readonly unit: number
  /** Whether a histogram without values is left out: files may have thousands of rules that no request meets. */
  readonly isLeftOutEmpty?: boolean
}

const DURATIONS: Scale = {
  edges: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000],
  unit: 1000,
}

/** Shares of a whole, from nothing to all of it. */
export const SHARES: Scale = {
  edges: [0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9],
  unit: 1,
  isLeftOutEmpty: true,
}

/** From 10 ms to a day, noted in milliseconds. */
export const AGES: Scale = {
  edges: [10, 100, 1000, 10_000, 60_000, 300_000, 1_800_000, 7_200_000, 86_400_000],
  unit: 1000,
  isLeftOutEmpty: true,
}

/** A histogram. */
export class Histogram implements Series {
  /** One count per step, the last for what is beyond all edges; added up only when shown. */
  readonly counts: number[]
  private readonly scale: Scale
  private sum = 0

  constructor(scale: Scale = DURATIONS) {
    this.scale = scale
    this.counts = Array.from({ length: scale.edges.length + 1 }, () => 0)
  }

  /** Notes one value, a duration in milliseconds; a sampled one counts as several. */
  observe(value: number, weight = 1): void {
    const { edges } = this.scale
    let step = 0
    while (step < edges.length && value > edges[step]!) step++
    this.counts[step]! += weight
    this.sum += value * weight
  }

  /** How many values were noted. */
  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0)
  }

  /** The upper edge of the step that holds a quantile; 0 when nothing was noted. */
  quantile(share: number): number {
    const { edges } = this.scale
    let rest = share * this.count
    if (rest === 0) return 0
    for (const [step, count] of this.counts.entries()) {
      rest -= count
      if (rest <= 0) return edges[step] ?? edges.at(-1)!
    }
    return edges.at(-1)!
  }

  lines(name: string, labels: string): readonly string[] {
    const { edges, unit, isLeftOutEmpty } = this.scale
    if (isLeftOutEmpty === true && this.count === 0) return []
    const shown = [...edges.map((edge) => String(edge / unit)), '+Inf']
    let total = 0
    const buckets = shown.map((edge, step) => {
      total += this.counts[step]!
      return `${name}_bucket${withEdge(labels, edge)} ${total}`
    })
    return [
      ...buckets,
      `${name}_sum${labels} ${this.sum / unit}`,
      `${name}_count${labels} ${total}`,
    ]
  }
}

function withEdge(labels: string, edge: string): string {
  return labels === '' ? `{le="${edge}"}` : `${labels.slice(0, -1)},le="${edge}"}`
}

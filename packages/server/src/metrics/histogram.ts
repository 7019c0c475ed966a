// How long something takes, in fixed steps from 50 µs to 5 s.
import type { Series } from './family.ts'

/** The upper edges in milliseconds, for comparing, and in seconds, for showing. */
const EDGES = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000]
const SHOWN = [...EDGES.map((edge) => String(edge / 1000)), '+Inf']

/** A histogram of durations. */
export class Histogram implements Series {
  /** One count per step, the last for what is longer than all edges; added up only when shown. */
  private readonly counts: number[] = Array.from({ length: SHOWN.length }, () => 0)
  private sum = 0

  /** Notes one duration, in milliseconds. */
  observe(millis: number): void {
    let step = 0
    while (step < EDGES.length && millis > EDGES[step]!) step++
    this.counts[step]!++
    this.sum += millis
  }

  lines(name: string, labels: string): readonly string[] {
    let total = 0
    const buckets = SHOWN.map((edge, step) => {
      total += this.counts[step]!
      return `${name}_bucket${withEdge(labels, edge)} ${total}`
    })
    return [
      ...buckets,
      `${name}_sum${labels} ${this.sum / 1000}`,
      `${name}_count${labels} ${total}`,
    ]
  }
}

function withEdge(labels: string, edge: string): string {
  return labels === '' ? `{le="${edge}"}` : `${labels.slice(0, -1)},le="${edge}"}`
}

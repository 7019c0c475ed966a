// Demand and refusals over time, in a bounded number of steps that grow as the log goes on.
import type { Millis } from 'sluice'

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000] as const

/** The steps that people read at once; each divides the next, so that two steps can be joined. */
const WIDTHS: readonly Millis[] = [
  SECOND,
  5 * SECOND,
  10 * SECOND,
  30 * SECOND,
  MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  7 * DAY,
  28 * DAY,
  364 * DAY,
  3640 * DAY,
]

/** The most steps of a timeline. */
const MAX_STEPS = 400

/** Several series of counts over the same steps. */
export class Timeline {
  width: Millis = WIDTHS[0] as Millis
  /** Where the first step begins. */
  start = 0
  private readonly series: Float64Array[]
  private length = 0

  constructor(series: number) {
    this.series = Array.from({ length: series }, () => new Float64Array(MAX_STEPS))
  }

  /** Counts one in the given series; instants must not go back. */
  add(at: Millis, series: number): void {
    if (this.length === 0) this.start = Math.floor(at / this.width) * this.width
    let step = Math.floor((at - this.start) / this.width)
    while (step >= MAX_STEPS) {
      this.coarsen()
      step = Math.floor((at - this.start) / this.width)
    }
    if (step >= this.length) this.length = step + 1
    this.series[series]![step]!++
  }

  /** The counts of a series, one for each step. */
  of(series: number): number[] {
    return [...this.series[series]!.subarray(0, this.length)]
  }

  private coarsen(): void {
    const next = WIDTHS.find((width) => width > this.width) ?? this.width * 2
    const start = Math.floor(this.start / next) * next
    for (const counts of this.series) {
      const joined = new Float64Array(MAX_STEPS)
      for (let i = 0; i < this.length; i++)
        joined[Math.floor((this.start + i * this.width - start) / next)]! += counts[i] as number
      counts.set(joined)
    }
    this.length = Math.floor((this.start + (this.length - 1) * this.width - start) / next) + 1
    this.start = start
    this.width = next
  }
}

// When a stand-in answered, so that units are handed back to whoever they were taken from.
import type { Millis } from '../time/clock.ts'

/** Spans that are remembered; older ones are forgotten. */
const MOST = 64

/** The spans in which the stand-in answered and the store did not. Instants never go back. */
export class Spans {
  private readonly spans: { from: Millis; to: Millis }[] = []
  private isGoingOn = false

  /** The stand-in answered at an instant. */
  add(at: Millis): void {
    const last = this.spans.at(-1)
    if (this.isGoingOn && last !== undefined) {
      last.to = at
      return
    }
    this.isGoingOn = true
    if (this.spans.push({ from: at, to: at }) > MOST) this.spans.shift()
  }

  /** The store answered again. */
  end(): void {
    this.isGoingOn = false
  }

  /** Whether the stand-in answered around an instant. */
  has(at: Millis): boolean {
    return this.spans.some(({ from, to }) => from <= at && at <= to)
  }
}

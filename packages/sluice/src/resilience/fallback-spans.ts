// When the fallback answered, so that units are refunded to where they were taken.
import type { Millis } from '../time/clock.ts'

/** Spans that are remembered; older ones are forgotten. */
const MAX_SPANS = 64

/** The spans of time in which the fallback answered and the store did not. Instants never go back. */
export class FallbackSpans {
  private readonly spans: { from: Millis; to: Millis }[] = []
  /** Whether the fallback answered last. */
  isOpen = false

  /** The fallback answered at an instant. */
  add(at: Millis): void {
    const last = this.spans.at(-1)
    if (this.isOpen && last !== undefined) {
      last.to = at
      return
    }
    this.isOpen = true
    if (this.spans.push({ from: at, to: at }) > MAX_SPANS) this.spans.shift()
  }

  /** The store answered again. */
  end(): void {
    this.isOpen = false
  }

  /** Whether the fallback answered around an instant. */
  has(at: Millis): boolean {
    return this.spans.some(({ from, to }) => from <= at && at <= to)
  }
}

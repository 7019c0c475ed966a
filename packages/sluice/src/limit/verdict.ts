// What one limit says about one cost at one instant.
import type { Millis } from '../time/clock.ts'

/** The answer of one limit. Durations are whole milliseconds from the instant of the decision, rounded up. */
export interface Verdict {
  readonly allowed: boolean
  /** The largest cost that would be allowed at the same instant, after this decision. */
  readonly remaining: number
  /** 0 when allowed. Refused until exactly then if nothing else arrives; null when this cost can never fit. */
  readonly retryAfter: Millis | null
  /** Until the count is as good as new, with no further traffic. Doubles as the state's time to live. */
  readonly resetAfter: Millis
  /** Until one more unit than `remaining` is free; 0 when all of them are. Never above `retryAfter`. */
  readonly availableAfter: Millis
  /** Leaky bucket: how long to hold an allowed request before it goes on. Else 0. */
  readonly delay: Millis
  /** The instant of the decision, by the clock of the store that made it. */
  readonly at: Millis
}

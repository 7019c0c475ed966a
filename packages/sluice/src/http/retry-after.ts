// Retry-After: the one field that nearly every client obeys.
import type { Millis } from '../time/clock.ts'

/**
 * Whole seconds, at least 1, never before the wait is over; up to `spread` later, so that those who were refused
 * together do not come back together. Undefined when the request can never be allowed.
 */
export function retryAfterSeconds(wait: Millis | null, spread: Millis): number | undefined {
  if (wait === null) return undefined
  const later = spread === 0 ? 0 : Math.random() * spread
  return Math.max(1, Math.ceil((wait + later) / 1000))
}

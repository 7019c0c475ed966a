// Holds a request for the delay of a leaky bucket.
import type { Millis } from '../time/clock.ts'

/** The longest that one timer can wait. */
const LONGEST = 2 ** 31 - 1

/** Calls back after the delay. Gives the function that stops waiting, for clients that go away. */
export function hold(delay: Millis, then: () => void): () => void {
  let left = delay
  let timer: ReturnType<typeof setTimeout>
  const wait = (): void => {
    const now = Math.min(left, LONGEST)
    left -= now
    timer = setTimeout(left > 0 ? wait : then, now)
  }
  wait()
  return () => clearTimeout(timer)
}

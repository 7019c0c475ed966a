// How long the event loop of this thread had something to do, as Node measures it.
import type { Millis } from './clock.ts'

/** As much of Node's `performance` as is used; other runtimes do not have it, or answer zeros. */
interface NodePerformance {
  eventLoopUtilization?(): { readonly active: Millis }
}

/** Milliseconds so far in which the event loop did not wait for input; always 0 where the runtime does not measure it. */
export function busyTime(): Millis {
  return (performance as NodePerformance).eventLoopUtilization?.().active ?? 0
}

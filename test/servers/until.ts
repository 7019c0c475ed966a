// Waits for something to become true of a real server, which has no fake clock.
import { setTimeout as pause } from 'node:timers/promises'

/** How much longer a busy machine may take than an idle one, and the most that it may take (in ms). */
const BUSY = 10
const MAX_WAIT = 50_000

/**
 * Tries until the attempt returns a value other than undefined and false, and returns that. An attempt that throws
 * counts as "not yet". `timeout` (in ms) is for a machine that has nothing else to do; a busy one gets ten times as
 * much, up to 50 s. After that, the last error is the cause of ours.
 */
export async function until<T>(
  what: string,
  timeout: number,
  attempt: () => Promise<T | undefined | false>,
): Promise<T> {
  const patience = Math.max(timeout, Math.min(timeout * BUSY, MAX_WAIT))
  const deadline = performance.now() + patience
  let cause: unknown
  do {
    try {
      const value = await attempt()
      if (value !== undefined && value !== false) return value
      cause = undefined
    } catch (error) {
      cause = error
    }
    await pause(20)
  } while (performance.now() < deadline)
  throw new Error(`${what}: not within ${patience} ms`, { cause })
}

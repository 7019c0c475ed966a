// Waits for something to become true of a real server, which has no fake clock.
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Tries until the attempt gives a value other than undefined and false, and gives that. An attempt that throws counts as
 * "not yet"; after the timeout (in ms) its error is the cause of ours.
 */
export async function until<T>(
  what: string,
  timeout: number,
  attempt: () => Promise<T | undefined | false>,
): Promise<T> {
  const deadline = performance.now() + timeout
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
  throw new Error(`${what}: not within ${timeout} ms`, { cause })
}

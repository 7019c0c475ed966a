// Reads CPU time, which neighbours on the same machine cannot steal as they steal wall time.
import { readFileSync } from 'node:fs'

/** CPU seconds of this process so far: user and system, all threads, so garbage collection counts. */
export function cpuSeconds() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/**
 * CPU milliseconds of the main thread alone, which is what an event loop's pause is made of. Where the
 * system does not tell (it does on Linux), those of the whole process.
 */
export function mainThreadMillis() {
  // The call also brings the kernel's count for this thread up to date; without it the file lags by a tick.
  const whole = cpuSeconds() * 1e3
  try {
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6
  } catch {
    return whole
  }
}

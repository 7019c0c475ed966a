// Keeps client and server on different cores, where the system can.
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/**
 * Pins this process, and with it every child it starts from now on, to the second core.
 * @returns {number | undefined} the core that is left for a server; undefined where nothing was pinned
 */
export function pinToSecondCore() {
  if (availableParallelism() < 2) return undefined
  const { status } = spawnSync('taskset', ['-cp', '1', `${process.pid}`], { stdio: 'ignore' })
  return status === 0 ? 0 : undefined
}

// Stops a server while it waits for events, so that nothing it has done is still to be written to a client or a replica.
import { readFileSync } from 'node:fs'
import type { RedisServer } from './redis-server.ts'
import { until } from './until.ts'

/** The numbers of epoll_wait and epoll_pwait, by processor. Elsewhere any moment will do. */
const WAITING: Partial<Record<NodeJS.Architecture, readonly string[]>> = {
  x64: ['232', '281'],
  arm64: ['22'],
}

/**
 * Stops a server by SIGSTOP. A server that is stopped in the middle of its work may have written to its replica but not yet to the
 * client, or the other way round. What it confirmed to one of them alone is lost when the replica takes over, and no client can see that.
 */
export async function stopIdle(server: RedisServer): Promise<void> {
  await until('the server is stopped while it waits', 10_000, async () => {
    server.kill('SIGSTOP')
    await until('the server is stopped', 5000, async () => {
      const status = readOf(server.pid, 'status')
      return status === undefined || /^State:\tT/m.test(status)
    })
    const call = readOf(server.pid, 'syscall')?.split(' ')[0]
    const waiting = WAITING[process.arch]
    if (call === undefined || waiting === undefined || waiting.includes(call)) return true
    server.kill('SIGCONT')
    return false
  })
}

/** A file about a process; undefined where there is none. */
function readOf(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return undefined
  }
}

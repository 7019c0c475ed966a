// Starts processes that never outlive the one that started them, however that one ends.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { Socket } from 'node:net'

/**
 * Reads the id of the process to end, an empty line once that process is gone, and acts when its input ends: by then the
 * owner has let go of it or is dead, even by SIGKILL, which an 'exit' listener would miss. A process that leads a group
 * ends with its children, such as the workers of nginx, which outlive a master that was killed.
 */
const guardScript = `
while read -r line; do pid=$line; done
[ -z "$pid" ] || kill -s KILL -- "-$pid" 2>/dev/null || kill -9 "$pid"
[ -z "$1" ] || rm -rf "$1"`

export interface Guard {
  /** Names the process to end, or none. */
  watch(pid: number | undefined): void
  /** Ends the watched process, removes the folder, and resolves once both are done. */
  release(): Promise<void>
}

/** A watcher that ends a process and removes a folder when this process is gone. */
export function createGuard(folder: string | undefined): Guard {
  // Detached, so that Ctrl-C in a terminal ends us but not the guard.
  const shell = spawn('sh', ['-c', guardScript, 'guard', folder ?? ''], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const input = shell.stdin as Socket
  const closed = once(shell, 'close')
  input.on('error', () => {})
  input.unref()
  shell.unref()
  return {
    watch: (pid) => void input.write(`${pid ?? ''}\n`),
    async release() {
      shell.ref()
      input.end()
      await closed
    },
  }
}

export interface GuardedProcess {
  readonly pid: number
  /** How the process ended, or undefined while it runs. */
  readonly end: string | undefined
  /** Sends a signal and does nothing when the process has ended. */
  kill(signal: NodeJS.Signals): void
  /** Resolves when the process has ended, or after the timeout (in ms). */
  waitForEnd(timeout: number): Promise<void>
}

/** Starts a process with its output in a log file. An unfinished one does not keep this process running. */
export async function spawnGuarded(
  guard: Guard,
  command: string,
  args: string[],
  { cwd, logFile }: { cwd: string; logFile: string },
): Promise<GuardedProcess> {
  const log = openSync(logFile, 'a')
  // The leader of a group of its own, so that its children end with it.
  const child = spawn(command, args, { cwd, detached: true, stdio: ['ignore', log, log] })
  closeSync(log)
  guard.watch(child.pid)
  let end: string | undefined
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      end = signal ?? `exit code ${code}`
      guard.watch(undefined)
      resolve()
    })
  })
  await once(child, 'spawn')
  child.unref()

  return {
    pid: child.pid ?? 0,
    get end() {
      return end
    },
    kill: (signal) => void child.kill(signal),
    async waitForEnd(timeout) {
      const { promise, cancel } = delay(timeout)
      await Promise.race([ended, promise])
      cancel()
    },
  }
}

function delay(milliseconds: number) {
  let cancel = () => {}
  const promise = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    cancel = () => clearTimeout(timer)
  })
  return { promise, cancel }
}

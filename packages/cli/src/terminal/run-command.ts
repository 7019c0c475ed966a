// Runs one command on the real terminal: Ctrl+C stops it gently, mistakes are printed as one line and end with an exit code.
import { Mistake, Unreadable } from './mistake.ts'
import type { Streams } from './streams.ts'

/** Runs a command and sets the exit code of the process. A second Ctrl+C ends at once. */
export async function runCommand(command: (streams: Streams) => Promise<number>): Promise<void> {
  const stop = new AbortController()
  const onSignal = (): void => {
    if (stop.signal.aborted) process.exit(130)
    stop.abort()
  }
  process.on('SIGINT', onSignal)
  // The reader of a pipe, such as head, may have enough before all is written.
  process.stdout.on('error', () => process.exit(0))
  const { stdin, stdout, stderr } = process
  try {
    process.exitCode = await command({ stdin, stdout, stderr, signal: stop.signal })
  } catch (error) {
    process.exitCode = exitCodeOf(error)
    const { message } = error as Error
    for (const line of message.split('\n')) stderr.write(`error: ${line}\n`)
  } finally {
    process.removeListener('SIGINT', onSignal)
  }
}

/** 1 for a mistake of the caller, 2 for a file that cannot be read or written; everything else is thrown again. */
function exitCodeOf(error: unknown): number {
  if (error instanceof Mistake) return 1
  if (error instanceof Unreadable) return 2
  if (typeof (error as NodeJS.ErrnoException).syscall === 'string') return 2
  throw error
}

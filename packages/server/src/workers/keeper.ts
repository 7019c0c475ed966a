// Keeps one child process running: starts it, starts it again when it ends by itself, and ends it when asked.
import type { ChildProcess, Serializable } from 'node:child_process'
import type { Millis } from 'sluice'

/** The first wait before another start; each failure in a row doubles it, up to the last. */
const FIRST_WAIT = 100
const LAST_WAIT = 10_000
/** A process that ran so long did not crash at once, and the next one starts without much waiting. */
const SETTLED = 10_000

/** How a process is kept. */
export interface KeeperOptions {
  /** Starts the process; it says `{ type: 'ready' }` when it is. */
  readonly start: () => ChildProcess
  readonly onMessage?: (message: ChildMessage, pid: number) => void
  /** It has ended: how, as words, and how many times in a row it has ended soon after its start. */
  readonly onEnd?: (pid: number, how: string, failures: number) => void
  /** How long a process must run to count as one that works; for tests. */
  readonly settled?: Millis
}

/** What children say; each kind has fields of its own. */
interface ChildMessage {
  readonly type: string
}

/** A process that is there again when it ends. */
export class Keeper {
  private readonly options: KeeperOptions
  private child: ChildProcess | undefined
  private failures = 0
  private retry: NodeJS.Timeout | undefined
  private isStopping = false
  private readonly ended: (() => void)[] = []
  /** Whether the process that runs now has said that it is ready. */
  isReady = false

  constructor(options: KeeperOptions) {
    this.options = options
    this.start()
  }

  get pid(): number | undefined {
    return this.child?.pid
  }

  /** Sends a message to the process; one that is not there misses it. */
  send(message: object): void {
    if (this.child?.connected === true) this.child.send(message as Serializable, () => {})
  }

  /** Asks the process to end, and kills it when it has not after `patience`. Nothing is started any more. */
  stop(message: object, patience: Millis): Promise<void> {
    this.isStopping = true
    clearTimeout(this.retry)
    const { child } = this
    if (child === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      const kill = setTimeout(() => child.kill('SIGKILL'), patience)
      this.ended.push(() => {
        clearTimeout(kill)
        resolve()
      })
      this.send(message)
    })
  }

  private start(): void {
    const startedAt = performance.now()
    const child = this.options.start()
    const pid = child.pid ?? 0
    this.child = child
    child.on('message', (message: ChildMessage) => {
      if (message.type === 'ready') this.isReady = true
      this.options.onMessage?.(message, pid)
    })
    // Of a process that cannot even be started there is no exit.
    child.on('error', (error) => {
      if (child.pid === undefined) this.over(child, pid, error.message, 0)
    })
    child.on('exit', (code, signal) => {
      this.over(child, pid, signal ?? `exit code ${code}`, performance.now() - startedAt)
    })
  }

  private over(child: ChildProcess, pid: number, how: string, ran: Millis): void {
    if (this.child !== child) return
    const { settled = SETTLED, onEnd } = this.options
    this.failures = this.isReady && ran >= settled ? 1 : this.failures + 1
    this.isReady = false
    this.child = undefined
    for (const resolve of this.ended.splice(0)) resolve()
    onEnd?.(pid, how, this.failures)
    if (this.isStopping) return
    const wait = Math.min(FIRST_WAIT * 2 ** (this.failures - 1), LAST_WAIT)
    this.retry = setTimeout(() => this.start(), wait)
  }
}

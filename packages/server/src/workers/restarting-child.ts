// Keeps one child process running: restarts it when it ends by itself, kills it when it hangs, stops it when asked.
import type { ChildProcess, Serializable } from 'node:child_process'
import type { Millis } from 'sluice'

/** The wait before the first restart; each failure in a row doubles it, up to the maximum. */
const FIRST_WAIT: Millis = 100
const MAX_WAIT: Millis = 10_000
/** A process that ran this long did not fail at its start: the next restart waits for the first wait only. */
const SETTLED_AFTER: Millis = 10_000
/** Silence is measured in ticks of this process, so that a standstill of the whole machine does not count. */
const TICK: Millis = 1000

/** How a process is started and watched. */
export interface RestartingChildOptions {
  /** Starts the process. It sends `{ type: 'ready' }` when it is ready. */
  readonly start: () => ChildProcess
  readonly onMessage?: (message: ChildMessage, pid: number) => void
  /** The process has ended: how, and how many times in a row it has ended soon after its start. */
  readonly onEnd?: (pid: number, how: string, failures: number) => void
  /** How long a ready process may send nothing before it is killed; not watched when absent. */
  readonly hungAfter?: Millis
  readonly onHung?: (pid: number) => void
  /** How long a process must run so that its end is no failed start; for tests. */
  readonly settledAfter?: Millis
}

/** Messages of children; each type has fields of its own. */
interface ChildMessage {
  readonly type: string
}

/** A child process that is restarted whenever it ends. */
export class RestartingChild {
  private readonly options: RestartingChildOptions
  private child: ChildProcess | undefined
  private failures = 0
  private retry: NodeJS.Timeout | undefined
  private watch: NodeJS.Timeout | undefined
  /** Ticks since the last message. */
  private silentTicks = 0
  private isStopping = false
  private readonly onceEnded: (() => void)[] = []
  /** Whether the running process has reported that it is ready. */
  isReady = false

  constructor(options: RestartingChildOptions) {
    this.options = options
    this.start()
  }

  get pid(): number | undefined {
    return this.child?.pid
  }

  /** Sends a message to the process; it is lost when none is running. */
  send(message: object): void {
    if (this.child?.connected === true) this.child.send(message as Serializable, () => {})
  }

  /** Asks the process to end and kills it after `patience`. It is not restarted any more. */
  stop(message: object, patience: Millis): Promise<void> {
    this.isStopping = true
    clearTimeout(this.retry)
    clearInterval(this.watch)
    const { child } = this
    if (child === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      const kill = setTimeout(() => child.kill('SIGKILL'), patience)
      this.onceEnded.push(() => {
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
      this.silentTicks = 0
      if (message.type === 'ready') this.isReady = true
      this.options.onMessage?.(message, pid)
    })
    // A process that cannot be started at all has no exit event.
    child.on('error', (error) => {
      if (child.pid === undefined) this.ended(child, pid, error.message, 0)
    })
    child.on('exit', (code, signal) => {
      this.ended(child, pid, signal ?? `exit code ${code}`, performance.now() - startedAt)
    })
    this.watchSilence(child, pid)
  }

  private watchSilence(child: ChildProcess, pid: number): void {
    const { hungAfter, onHung } = this.options
    if (hungAfter === undefined) return
    const maxTicks = Math.ceil(hungAfter / TICK)
    this.silentTicks = 0
    this.watch = setInterval(() => {
      if (!this.isReady || ++this.silentTicks <= maxTicks) return
      clearInterval(this.watch)
      onHung?.(pid)
      // Not SIGTERM, which a stopped process does not receive.
      child.kill('SIGKILL')
    }, TICK)
    this.watch.unref()
  }

  private ended(child: ChildProcess, pid: number, how: string, ran: Millis): void {
    if (this.child !== child) return
    const { settledAfter = SETTLED_AFTER, onEnd } = this.options
    this.failures = this.isReady && ran >= settledAfter ? 1 : this.failures + 1
    this.isReady = false
    this.child = undefined
    clearInterval(this.watch)
    for (const resolve of this.onceEnded.splice(0)) resolve()
    onEnd?.(pid, how, this.failures)
    if (this.isStopping) return
    const wait = Math.min(FIRST_WAIT * 2 ** (this.failures - 1), MAX_WAIT)
    this.retry = setTimeout(() => this.start(), wait)
  }
}

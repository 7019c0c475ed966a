// The processes of one service: the workers and, when counts are in memory, their owner.
import { fork } from 'node:child_process'
import cluster from 'node:cluster'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Millis } from 'sluice'
import type { Config } from '../config/config.ts'
import type { Counter, MetricRegistry } from '../metrics/registry.ts'
import type { Listener } from '../net/listener.ts'
import type { Log } from '../log/log.ts'
import { Figures } from './figures.ts'
import { Keeper } from './keeper.ts'
import type {
  FromOwner,
  FromWorker,
  StartError,
  StartOwner,
  StartWorker,
  ToWorker,
} from './messages.ts'
import { answerTo, Asker, type Question } from './questions.ts'
import { SharedControls } from './shared-controls.ts'
import { SharedPorts } from './shared-ports.ts'
import { folderForSocket } from './socket-folder.ts'

/** Starts in a row that fail before all is given up, as long as no worker is ready. */
const MOST_FAILURES = 5
/** How long all processes together may take to start. */
const START_PATIENCE = 60_000
/** How much longer than the service's own patience a process may take to end before it is killed. */
const KILL_AFTER = 2000

/** How long a connection that was accepted may take to reach a worker. */
const HANDOVER = 250

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** What a crew is made from. */
export interface CrewOptions {
  readonly config: Config
  readonly metrics: MetricRegistry
  readonly log: Log
  /** What a worker is told first; `socket` is where the owner of the counts answers. */
  readonly startMessage: (number: number, socket: string | undefined) => StartWorker
  /** A worker has become ready, or has ended. */
  readonly onChange: () => void
}

/** Starts the processes, keeps them, and ends them. */
export class Crew {
  /** Resolves with a reason when no worker can be kept running. */
  readonly failed: Promise<string>
  private readonly options: CrewOptions
  private readonly figures: Figures
  private readonly controls = new SharedControls()
  private readonly ports = new SharedPorts()
  private readonly ownerAsker = new Asker((ask) => this.owner?.send(ask))
  private readonly restarts: Record<'worker' | 'owner', Counter>
  private workers: readonly Keeper[] = []
  private owner: Keeper | undefined
  private folder: string | undefined
  private isStopping = false
  private fail!: (reason: string) => void
  /** What the start waits for. */
  private started: { resolve: () => void; reject: (error: Error) => void } | undefined
  private listeners: readonly Pick<Listener, 'name' | 'url'>[] = []

  constructor(options: CrewOptions) {
    const { metrics, config } = options
    this.options = options
    this.figures = new Figures(metrics)
    this.failed = new Promise((resolve) => (this.fail = resolve))
    const restarts = metrics.counter(
      'sluice_process_restarts_total',
      'Processes that ended by themselves and were started again.',
      ['process'],
    )
    this.restarts = { worker: restarts.with('worker'), owner: restarts.with('owner') }
    metrics.gauge('sluice_workers', 'Workers that there are to be.').with().set(config.workers)
  }

  /** How many workers want traffic. */
  get ready(): number {
    return this.workers.filter(({ isReady }) => isReady).length
  }

  /** Starts everything and gives where it listens; rejects with what kept a process from starting. */
  async start(): Promise<readonly Pick<Listener, 'name' | 'url'>[]> {
    const { config } = this.options
    const timer = setTimeout(
      () => this.started?.reject(new Error('the workers did not start in time')),
      START_PATIENCE,
    )
    try {
      if (config.store.kind === 'memory') await this.startOwner(config.store.maxKeys)
      await this.startWorkers(config.workers)
      return this.listeners
    } catch (error) {
      await this.stop(0)
      throw error
    } finally {
      clearTimeout(timer)
      this.started = undefined
    }
  }

  /** Tells every worker that is there; one that is just starting hears it after its start message. */
  tellWorkers(message: ToWorker): void {
    for (const worker of this.workers) worker.send(message)
  }

  /** Drains all workers at once, then ends the owner of the counts. */
  async stop(delay: Millis): Promise<void> {
    this.isStopping = true
    const patience = delay + HANDOVER + this.options.config.shutdown.patience + KILL_AFTER
    const message = { type: 'stop', delay: delay + HANDOVER } satisfies ToWorker
    const closing = setTimeout(() => this.ports.close(), delay)
    await Promise.all(this.workers.map((worker) => worker.stop(message, patience)))
    clearTimeout(closing)
    this.ports.close()
    await this.owner?.stop({ type: 'stop' }, KILL_AFTER)
    if (this.folder !== undefined) rmSync(this.folder, { recursive: true, force: true })
  }

  private startOwner(maxKeys: number): Promise<void> {
    const folder = folderForSocket()
    const socket = join(folder, 'owner')
    this.folder = folder
    return this.whenStarted(() => {
      this.owner = new Keeper({
        start: () => fork(fileOf('./owner-main.js'), { serialization: 'advanced' }),
        onMessage: (message, pid) => {
          const told = message as FromOwner
          if (told.type === 'hello')
            this.owner?.send({ type: 'start', socket, maxKeys } satisfies StartOwner)
          else if (told.type === 'ready') this.began('owner', pid)
          else if (told.type === 'answer') this.ownerAsker.hear(told)
          else this.figures.hear(pid, told)
        },
        onEnd: (pid, how, failures) => this.over('owner', pid, how, failures),
      })
    })
  }

  private startWorkers(count: number): Promise<void> {
    cluster.setupPrimary({ exec: fileOf('./worker-main.js'), args: [], serialization: 'advanced' })
    return this.whenStarted(() => {
      this.workers = Array.from({ length: count }, (_, i) => this.worker(i + 1))
    })
  }

  private worker(number: number): Keeper {
    return new Keeper({
      start: () => cluster.fork().process,
      onMessage: (message, pid) => this.hear(number, pid, message as FromWorker),
      onEnd: (pid, how, failures) => {
        this.over('worker', pid, how, failures, number)
        if (!this.isStopping) this.options.onChange()
      },
    })
  }

  private hear(number: number, pid: number, message: FromWorker): void {
    switch (message.type) {
      case 'hello': {
        const socket = this.folder === undefined ? undefined : join(this.folder, 'owner')
        this.workers[number - 1]?.send(this.options.startMessage(number, socket))
        break
      }
      case 'ready':
        this.listeners = message.listeners
        this.began('worker', pid, number)
        this.options.onChange()
        break
      case 'failed':
        this.options.log.error({ worker: number, ...message.error }, 'a worker cannot start')
        this.started?.reject(errorOf(message.error))
        break
      case 'counted':
        this.figures.hear(pid, message)
        break
      case 'ask':
        void answerTo(message, (question) => this.answer(question)).then((answer) =>
          this.workers[number - 1]?.send(answer),
        )
        break
    }
  }

  private async answer(question: Question): Promise<unknown> {
    switch (question.what) {
      case 'metrics': {
        const processes = this.owner === undefined ? this.workers : [...this.workers, this.owner]
        return this.figures.text(processes.filter(({ isReady }) => isReady))
      }
      case 'keys':
        return this.ownerAsker.ask('keys', question)
      case 'controls':
        return this.controls.read(question.version)
      case 'put':
        return this.controls.put(question.control, question.duration)
      case 'remove':
        return this.controls.remove(question.control)
    }
  }

  private began(what: 'worker' | 'owner', pid: number, number?: number): void {
    this.options.log.info({ [what]: number, pid }, `the ${what} is ready`)
    const all = what === 'owner' || this.ready === this.workers.length
    if (all) this.started?.resolve()
  }

  private over(
    what: 'worker' | 'owner',
    pid: number,
    how: string,
    failures: number,
    number?: number,
  ): void {
    this.figures.end(pid)
    if (this.isStopping) return
    this.restarts[what].add()
    const lost = what === 'owner' ? '; its counts are lost' : ''
    this.options.log.error(
      { [what]: number, pid, how, failures },
      `the ${what} ended by itself${lost}; it is started again`,
    )
    if (failures < MOST_FAILURES) return
    const reason = `the ${what} ended ${failures} times in a row right after its start (${how})`
    if (this.started !== undefined) this.started.reject(new Error(reason))
    else if (what === 'worker' && this.ready === 0) this.fail(reason)
  }

  private whenStarted(begin: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.started = { resolve, reject }
      begin()
    })
  }
}

function errorOf({ message, ...fields }: StartError): Error {
  return Object.assign(new Error(message), fields)
}

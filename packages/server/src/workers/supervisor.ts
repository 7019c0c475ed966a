// Starts the workers of one service, replaces those that end or hang, and stops them all.
import cluster from 'node:cluster'
import { fileURLToPath } from 'node:url'
import type { Millis } from 'sluice'
import type { Config } from '../config/config.ts'
import type { Log } from '../log/log.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { Counter } from '../metrics/series.ts'
import type { Listener } from '../net/listener.ts'
import type { FromWorker, StartError, StartWorker, ToWorker } from './messages.ts'
import { MetricsAggregator } from './metrics-aggregator.ts'
import { RestartingChild } from './restarting-child.ts'
import { SharedPorts } from './shared-ports.ts'

/** Failed starts in a row after which the service gives up, while no worker is ready. */
const MAX_FAILURES = 5
/** How long all workers together may take to start. */
const START_TIMEOUT: Millis = 60_000
/** How much longer than the service's own patience a worker may take to end before it is killed. */
const KILL_AFTER: Millis = 2000
/** How long the primary goes on handing over connections that it has accepted. */
const HANDOVER: Millis = 250
/** How long a worker may be silent before it is replaced. It reports its metrics every second. */
const HUNG_AFTER: Millis = 5000

const WORKER_FILE = fileURLToPath(new URL('./worker-main.js', import.meta.url))

/** What a supervisor needs. */
export interface SupervisorOptions {
  readonly config: Config
  readonly metrics: MetricRegistry
  readonly log: Log
  /** The first message to a worker. */
  readonly startMessage: (number: number) => StartWorker
  /** Called when a worker has become ready or has ended. */
  readonly onChange: () => void
}

/** The workers of one service. */
export class Supervisor {
  /** Resolves with a reason when no worker can be kept running. */
  readonly failed: Promise<string>
  private readonly options: SupervisorOptions
  private readonly metrics: MetricsAggregator
  private readonly ports = new SharedPorts()
  private readonly restarts: Counter
  private readonly hangs: Counter
  private workers: readonly RestartingChild[] = []
  private isStopping = false
  private fail!: (reason: string) => void
  /** Settles the promise of `start`. */
  private started: { resolve: () => void; reject: (error: Error) => void } | undefined
  private listeners: readonly Pick<Listener, 'name' | 'url'>[] = []

  constructor(options: SupervisorOptions) {
    const { metrics, config } = options
    this.options = options
    this.metrics = new MetricsAggregator(metrics)
    this.failed = new Promise((resolve) => (this.fail = resolve))
    this.restarts = metrics
      .counter('sluice_worker_restarts_total', 'Workers that ended by themselves or were replaced.')
      .with()
    this.hangs = metrics
      .counter('sluice_workers_hung_total', 'Workers that were killed because they had hung.')
      .with()
    for (const counter of [this.restarts, this.hangs]) counter.add(0)
    metrics.gauge('sluice_workers', 'Configured number of workers.').with().set(config.workers)
  }

  /** How many workers are ready for traffic. */
  get ready(): number {
    return this.workers.filter(({ isReady }) => isReady).length
  }

  /** Starts the workers and returns where they listen; rejects when one of them cannot start. */
  async start(): Promise<readonly Pick<Listener, 'name' | 'url'>[]> {
    const timer = setTimeout(
      () => this.started?.reject(new Error('the workers did not start in time')),
      START_TIMEOUT,
    )
    cluster.setupPrimary({ exec: WORKER_FILE, args: [], serialization: 'advanced' })
    try {
      await new Promise<void>((resolve, reject) => {
        this.started = { resolve, reject }
        const { workers: length } = this.options.config
        this.workers = Array.from({ length }, (_, i) => this.createWorker(i + 1))
      })
      return this.listeners
    } catch (error) {
      await this.stop(0)
      throw error
    } finally {
      clearTimeout(timer)
      this.started = undefined
    }
  }

  /** Sends a message to all workers. One that is just starting receives it after its start message. */
  broadcast(message: ToWorker): void {
    for (const worker of this.workers) worker.send(message)
  }

  /** Drains all workers at once. They close after the ports, however late a busy machine makes this process. */
  async stop(delay: Millis): Promise<void> {
    this.isStopping = true
    const patience = delay + HANDOVER + this.options.config.shutdown.patience + KILL_AFTER
    const message = { type: 'stop', delay } satisfies ToWorker
    const closing = setTimeout(() => {
      this.ports.close()
      setTimeout(() => this.broadcast({ type: 'ports-closed' }), HANDOVER)
    }, delay)
    await Promise.all(this.workers.map((worker) => worker.stop(message, patience)))
    clearTimeout(closing)
    this.ports.close()
  }

  private createWorker(number: number): RestartingChild {
    return new RestartingChild({
      start: () => cluster.fork().process,
      onMessage: (message, pid) => this.receive(number, pid, message as FromWorker),
      hungAfter: HUNG_AFTER,
      onHung: (pid) => {
        this.hangs.add()
        this.options.log.error({ worker: number, pid }, 'the worker hangs; it is killed')
      },
      onEnd: (pid, how, failures) => this.ended(number, pid, how, failures),
    })
  }

  private receive(number: number, pid: number, message: FromWorker): void {
    const worker = this.workers[number - 1]
    switch (message.type) {
      case 'hello':
        worker?.send(this.options.startMessage(number))
        break
      case 'ready':
        this.listeners = message.listeners
        this.options.log.info({ worker: number, pid }, 'the worker is ready')
        if (this.ready === this.workers.length) this.started?.resolve()
        this.options.onChange()
        break
      case 'failed':
        this.options.log.error({ worker: number, ...message.error }, 'a worker cannot start')
        this.started?.reject(errorOf(message.error))
        break
      case 'snapshot':
        this.metrics.receive(pid, message)
        break
      case 'get-metrics':
        void this.metrics
          .text(
            this.workers.filter(({ isReady }) => isReady),
            message.names && new Set(message.names),
          )
          .then((text) =>
            worker?.send({ type: 'metrics', id: message.id, text } satisfies ToWorker),
          )
        break
    }
  }

  private ended(number: number, pid: number, how: string, failures: number): void {
    this.metrics.end(pid)
    if (this.isStopping) return
    this.restarts.add()
    this.options.log.error(
      { worker: number, pid, how, failures },
      'the worker ended by itself; it is started again',
    )
    this.options.onChange()
    if (failures < MAX_FAILURES) return
    const reason = `the worker ended ${failures} times in a row right after its start (${how})`
    if (this.started !== undefined) this.started.reject(new Error(reason))
    else if (this.ready === 0) this.fail(reason)
  }
}

function errorOf({ message, ...fields }: StartError): Error {
  return Object.assign(new Error(message), fields)
}

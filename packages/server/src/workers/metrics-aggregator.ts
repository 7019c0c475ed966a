// Adds up the metrics of all workers and of the primary whenever they are read.
import { systemClock, type Clock, type Millis } from 'sluice'
import type { MetricRegistry } from '../metrics/registry.ts'
import { SummedMetrics, type Snapshot } from '../metrics/sum.ts'
import type { RestartingChild } from './restarting-child.ts'

/** How long a process may take to send its snapshot; after that, its last one counts. */
const SNAPSHOT_TIMEOUT: Millis = 500
/** Consoles read every second, each worker's for itself: those of one second share what was collected. */
const SHARED_FOR: Millis = 900

/** The sum of what all processes have counted, also of those that ended. */
export class MetricsAggregator {
  private readonly own: MetricRegistry
  private readonly sum = new SummedMetrics()
  /** Process ids whose snapshot of this round has not arrived. */
  private readonly missing = new Set<number>()
  private round = 0
  private collecting: Promise<void> | undefined
  private complete: (() => void) | undefined

  private collectedAt: Millis = -Infinity
  private readonly clock: Clock

  constructor(own: MetricRegistry, clock: Clock = systemClock) {
    this.own = own
    this.clock = clock
  }

  /** Keeps the snapshot of a process; `round` is 0 when it was not requested. */
  receive(pid: number, { round, snapshot }: { round: number; snapshot: Snapshot }): void {
    this.sum.keep(pid, snapshot)
    if (round === this.round) this.noteSnapshot(pid)
  }

  /** A process has ended: its counters stay in the sum, its gauges do not. */
  end(pid: number): void {
    this.sum.end(pid)
    this.noteSnapshot(pid)
  }

  /**
   * The exposition of all metrics. Requests that arrive while one is being collected share its result. With names, of the
   * metrics that have one of them, at most {@link SHARED_FOR} old.
   */
  async text(
    processes: readonly Pick<RestartingChild, 'pid' | 'send'>[],
    names?: ReadonlySet<string>,
  ): Promise<string> {
    const isRecent = this.clock() - this.collectedAt < SHARED_FOR
    if (names === undefined || !isRecent) {
      // Not inside of `collect`, which ends at once when no process is ready.
      this.collecting ??= this.collect(processes).finally(() => (this.collecting = undefined))
      await this.collecting
    }
    return this.sum.text(this.own.snapshot(), names)
  }

  private collect(processes: readonly Pick<RestartingChild, 'pid' | 'send'>[]): Promise<void> {
    this.round++
    this.collectedAt = this.clock()
    for (const { pid } of processes) if (pid !== undefined) this.missing.add(pid)
    for (const process of processes) process.send({ type: 'get-snapshot', round: this.round })
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.missing.clear()
        this.complete = undefined
        resolve()
      }
      const timer = setTimeout(done, SNAPSHOT_TIMEOUT)
      this.complete = done
      if (this.missing.size === 0) done()
    })
  }

  private noteSnapshot(pid: number): void {
    this.missing.delete(pid)
    if (this.missing.size === 0) this.complete?.()
  }
}

// Collects the figures of all processes of a service whenever somebody asks for them.
import type { Millis } from 'sluice'
import type { MetricRegistry } from '../metrics/registry.ts'
import { SummedMetrics, type Snapshot } from '../metrics/sum.ts'
import type { Keeper } from './keeper.ts'

/** How long a process may take to tell its figures; after that, what it told last stands. */
const PATIENCE: Millis = 500

/** The sum of what all processes have counted, also of those that ended. */
export class Figures {
  private readonly own: MetricRegistry
  private readonly sum = new SummedMetrics()
  /** Asked in this round, and not heard of yet. */
  private readonly missing = new Set<number>()
  private round = 0
  private collecting: Promise<void> | undefined
  private complete: (() => void) | undefined

  constructor(own: MetricRegistry) {
    this.own = own
  }

  /** A process has told its figures; `round` is 0 when nobody had asked. */
  hear(pid: number, { round, snapshot }: { round: number; snapshot: Snapshot }): void {
    this.sum.keep(pid, snapshot)
    if (round === this.round) this.heard(pid)
  }

  /** A process has ended. */
  end(pid: number): void {
    this.sum.end(pid)
    this.heard(pid)
  }

  /** The exposition of everything at this moment. Who asks while others are being asked shares their answer. */
  async text(processes: readonly Keeper[]): Promise<string> {
    await (this.collecting ??= this.collect(processes))
    return this.sum.text(this.own.snapshot())
  }

  private collect(processes: readonly Keeper[]): Promise<void> {
    this.round++
    for (const { pid } of processes) if (pid !== undefined) this.missing.add(pid)
    for (const process of processes) process.send({ type: 'count', round: this.round })
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.missing.clear()
        this.collecting = undefined
        this.complete = undefined
        resolve()
      }
      const timer = setTimeout(done, PATIENCE)
      this.complete = done
      this.heard(0)
    })
  }

  private heard(pid: number): void {
    this.missing.delete(pid)
    if (this.missing.size === 0) this.complete?.()
  }
}

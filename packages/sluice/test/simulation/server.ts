// A simulated server: the real algorithms behind a clock that can be set, writes that can be lost, and hangs.
import type { Verdict } from '../../src/limit/verdict.ts'
import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Check } from '../../src/stores/store.ts'
import type { Millis } from '../../src/time/clock.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What a pod asks. `latest`: the last server time at which it may act. */
export interface Command {
  readonly operation: 'take' | 'peek' | 'refund' | 'reset'
  readonly checks: readonly Check[]
  readonly latest: Millis
  readonly from: string
}

/** What the server says: its time, and the verdicts unless it came too late. */
export interface Reply {
  readonly now: Millis
  readonly verdicts: readonly Verdict[] | null
}

interface Done {
  readonly at: Millis
  readonly command: Command
}

/** Units that a key was charged, and those that went back. */
interface Charge {
  taken: number
  given: number
  /** World time of the last charge. */
  at: Millis
}

/** One server for all pods. */
export class Server {
  isUp = true
  isStopped = false
  isBusy = false
  /** Times that a whole count may have been handed out anew: lost writes and clocks that were set. */
  renewals = 0
  /** Times that the clock was set back, after which a call on its way may act late. */
  setBacks = 0
  /** Units handed back for charges that the server no longer knew. */
  strays = 0
  readonly charges = new Map<string, Charge>()
  private readonly world: VirtualTime
  private offset: Millis = 0
  /** Overrides the clock while a log is replayed. */
  private replayedAt: Millis | null = null
  private counts: MemoryStore
  private log: Done[] = []
  private renewedAt: Millis = -Infinity
  private readonly held: (() => void)[] = []

  constructor(world: VirtualTime) {
    this.world = world
    this.counts = memoryStore({ clock: this.clock })
  }

  readonly clock = (): Millis => this.replayedAt ?? this.world.now + this.offset

  /** Executes a command now, or when it goes on; throws when it is gone or busy. */
  receive(command: Command, answer: (reply: Reply | Error) => void): void {
    if (!this.isUp) return
    const run = (): void => {
      if (!this.isUp) return
      answer(this.isBusy ? new Error('BUSY running a script') : this.execute(command))
    }
    if (this.isStopped) this.held.push(run)
    else run()
  }

  stop(): void {
    this.isStopped = true
  }

  goOn(): void {
    this.isStopped = false
    for (const run of this.held.splice(0)) run()
  }

  /** Gone, with everything that it had not yet read. */
  crash(): void {
    this.isUp = false
    this.isStopped = false
    this.held.length = 0
  }

  /** Back, with what it did until an instant: all of it, or less. */
  restart(keptUntil: Millis): void {
    this.isUp = true
    const kept = this.log.filter(({ at }) => at <= keptUntil)
    if (kept.length === this.log.length) return
    this.renew()
    this.counts.close()
    this.counts = memoryStore({ clock: this.clock })
    this.log = []
    for (const { at, command } of kept) {
      this.replayedAt = at + this.offset
      this.act(command)
      this.log.push({ at, command })
    }
    this.replayedAt = null
  }

  setClock(by: Millis): void {
    this.offset += by
    if (by < 0) this.setBacks += 1
    this.renew()
  }

  close(): void {
    this.counts.close()
  }

  private renew(): void {
    this.renewals += 1
    this.renewedAt = this.world.now
  }

  private execute(command: Command): Reply {
    const now = this.clock()
    if (now > command.latest) return { now, verdicts: null }
    if (command.operation !== 'peek') this.log.push({ at: this.world.now, command })
    const verdicts = this.act(command)
    this.account(command, verdicts)
    return { now, verdicts }
  }

  private act({ operation, checks }: Command): readonly Verdict[] {
    if (operation === 'take' || operation === 'peek') return this.counts[operation](checks)
    this.counts[operation](checks)
    return []
  }

  private account({ operation, checks }: Command, verdicts: readonly Verdict[]): void {
    for (const [i, { key, cost, takenAt }] of checks.entries()) {
      let charge = this.charges.get(key)
      if (charge === undefined) {
        charge = { taken: 0, given: 0, at: -Infinity }
        this.charges.set(key, charge)
      }
      if (operation === 'take' && verdicts[i]!.allowed) {
        charge.taken += cost
        charge.at = this.world.now
      } else if (operation === 'refund') {
        charge.given += cost
        const isKnown = takenAt !== undefined && takenAt - this.offset > this.renewedAt
        if (!isKnown || charge.given > charge.taken) this.strays += cost
      }
    }
  }
}

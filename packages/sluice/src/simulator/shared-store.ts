// The store that all pods share: the real counts, behind outages, stalls and failovers.
import { SluiceError } from '../errors.ts'
import { LazyVerdict } from '../limit/take.ts'
import type { Verdict } from '../limit/verdict.ts'
import { HeldVerdict } from '../stores/holds/held-verdict.ts'
import type { Exchanged, Settlement } from '../stores/holds/hold-store.ts'
import { withHolds, type MemoryHoldStore } from '../stores/holds/with-holds.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Check } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What a pod asks of the store. */
export type StoreOperation = 'exchange' | 'peek' | 'refund' | 'reset'

/** One call as it arrives. */
export interface StoreCall {
  readonly operation: StoreOperation
  /** Of exchanges only. */
  readonly settlements: readonly Settlement[]
  readonly checks: readonly Check[]
  /** The last instant at which it may act: a later one does nothing, as the script for Redis does. */
  readonly latest: Millis
}

interface LoggedCall {
  readonly at: Millis
  readonly call: StoreCall
}

/** One store for all pods. It answers at once; the way to it takes the time. */
export class SharedStore {
  isUp = true
  /** Calls that arrived. */
  calls = 0
  /** When writes were lost. */
  readonly losses: Millis[] = []
  private readonly world: VirtualTime
  private log: LoggedCall[] | undefined
  private counts: MemoryHoldStore
  private isStalled = false
  private readonly held: (() => void)[] = []
  /** Overrides the clock while a log is replayed. */
  private replayedAt: Millis | undefined

  /** A store that will lose some, but not all writes must remember them. */
  constructor(world: VirtualTime, remembersWrites: boolean) {
    this.world = world
    this.log = remembersWrites ? [] : undefined
    this.counts = this.fresh()
  }

  /** Executes a call now, or when the stall is over. The answer is undefined when the call came too late. */
  receive(call: StoreCall, answer: (reply: Exchanged | SluiceError | undefined) => void): void {
    this.calls += 1
    const run = (): void => {
      const now = this.world.clock()
      if (now > call.latest) return answer(undefined)
      if (this.isLearning(call, now)) return answer(learning())
      if (call.operation !== 'peek') this.log?.push({ at: now, call })
      answer(this.execute(call))
    }
    if (this.isStalled) this.held.push(run)
    else run()
  }

  stall(): void {
    this.isStalled = true
  }

  resume(): void {
    this.isStalled = false
    for (const run of this.held.splice(0)) run()
  }

  /** A replica takes over that has not seen the writes since an instant. */
  failOver(knownUntil: Millis): void {
    this.losses.push(this.world.clock())
    this.counts.close()
    this.counts = this.fresh()
    const kept = (this.log ?? []).filter(({ at }) => at <= knownUntil)
    for (const { at, call } of kept) {
      this.replayedAt = at
      this.execute(call)
    }
    this.replayedAt = undefined
    if (this.log !== undefined) this.log = kept
  }

  close(): void {
    this.counts.close()
  }

  private fresh(): MemoryHoldStore {
    return withHolds(memoryStore({ clock: () => this.replayedAt ?? this.world.clock() }))
  }

  /** A store that may have lost what is leased leases nothing until that has ended, as the script for Redis does. */
  private isLearning({ operation, checks }: StoreCall, now: Millis): boolean {
    if (operation !== 'exchange') return false
    const lostAt = this.losses.at(-1) ?? -Infinity
    return checks.some(({ leaseLife }) => leaseLife !== undefined && now < lostAt + leaseLife)
  }

  private execute({ operation, settlements, checks }: StoreCall): Exchanged {
    if (operation === 'exchange') {
      const { settled, verdicts } = this.counts.exchange(settlements, checks)
      return { settled, verdicts: verdicts.map(fromStore), epoch: this.losses.length }
    }
    if (operation === 'peek')
      return { settled: [], verdicts: this.counts.peek(checks).map(fromStore) }
    this.counts[operation](checks)
    return { settled: [], verdicts: [] }
  }
}

function learning(): SluiceError {
  return new SluiceError('store-learning', 'leases may have been lost', { transient: true })
}

/** A verdict as it comes over the network: a copy, which later calls do not change. */
function fromStore(verdict: Verdict): Verdict {
  const source = 'store'
  // The state of a log is not sent; other states are a few numbers, which the refusal cache and synced counts read.
  for (const { prototype } of [LazyVerdict, HeldVerdict])
    if (Object.getPrototypeOf(verdict) === prototype) {
      const copy = Object.create(prototype) as object
      return Object.assign(copy, verdict, { source }) as Verdict
    }
  const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, held } = verdict
  const numbers = { remaining, retryAfter, resetAfter, availableAfter, delay, at }
  return { allowed, ...numbers, source, ...(held !== undefined && { held }) }
}

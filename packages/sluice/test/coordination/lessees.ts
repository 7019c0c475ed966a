// A fleet of lessees on one shared store, in virtual time: latency, lost calls, crashes, stops and machines that sleep.
import { withLeases } from '../../src/coordination/leased-store.ts'
import { withSync, type SyncedStore } from '../../src/coordination/synced-store.ts'
import { LeaseClock } from '../../src/coordination/lease-clock.ts'
import type { LeaseOptions, SyncOptions } from '../../src/coordination/options.ts'
import { SluiceError } from '../../src/errors.ts'
import type { Limit } from '../../src/limit/limit.ts'
import type { Coordination, Verdict } from '../../src/limit/verdict.ts'
import type { Exchanged, HoldStore, Settlement } from '../../src/stores/holds/hold-store.ts'
import { withHolds, type MemoryHoldStore } from '../../src/stores/holds/with-holds.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Check, MaybePromise } from '../../src/stores/store.ts'
import type { Timers } from '../../src/time/timers.ts'
import type { Random } from '../redis/random.ts'
import { VirtualTime } from '../simulation/virtual-time.ts'
import type { Admitted } from './bounds.ts'

/** How long a call may take before it is given up. */
const TIMEOUT = 100

/** What may go wrong on the way to the store. */
export interface LinkOptions {
  /** The longest way to the store or back, in milliseconds. */
  readonly latency: number
  /** The part of calls that are lost before the store, and the part whose answers are lost. */
  readonly lostCalls: number
  readonly lostAnswers: number
  /** Whether no call of a process overtakes another one of it. */
  readonly isOrdered?: boolean
}

/** How its processes lease, and add up their counts. */
export type FleetOptions = LeaseOptions & Pick<SyncOptions, 'interval'>

/** One process: its events wait while it is stopped, and never happen once it has crashed. */
export class Process {
  readonly store: SyncedStore
  /** What this process has admitted. */
  readonly admitted: Admitted[] = []
  calls = 0
  decisions = 0
  private readonly fleet: LeaseFleet
  private isStopped = false
  private isCrashed = false
  private waiting: (() => void)[] = []
  /** When the last call arrived at the store. */
  private lastThere = 0
  /** Milliseconds for which the monotonic clock has stood still. */
  private asleep = 0

  constructor(fleet: LeaseFleet) {
    this.fleet = fleet
    const { time, random, options } = fleet
    const timers: Timers = {
      start: (run, after) => time.timers.start(() => this.happen(run), after),
      stop: (timer) => time.timers.stop(timer),
      afterTurn: (run) => time.timers.afterTurn(() => this.happen(run)),
    }
    const clock = new LeaseClock(time.clock, () => time.now - this.asleep)
    const environment = { clock, timers, random: () => random.next() }
    const { interval, life, ...common } = options
    const leased = withLeases(this.link(), { ...common, ...(life && { life }) }, environment)
    this.store = withSync(leased, { ...common, ...(interval && { interval }) }, environment)
  }

  /** Checks one request, and records it if it is admitted. */
  check(checks: readonly Check[]): void {
    this.happen(() => {
      this.decisions += 1
      const answer: MaybePromise<readonly Verdict[]> = this.store.take(checks)
      if (Array.isArray(answer)) this.record(checks, answer, true)
      else
        (answer as Promise<readonly Verdict[]>).then(
          (verdicts) => this.record(checks, verdicts, false),
          () => {},
        )
    })
  }

  crash(): void {
    this.isCrashed = true
  }

  /** Stops the process for a while; `asleep`: its monotonic clock stands still meanwhile. */
  stop(millis: number, asleep: boolean): void {
    if (this.isStopped) return
    this.isStopped = true
    this.fleet.time.at(this.fleet.time.now + millis, () => {
      this.isStopped = false
      if (asleep) this.asleep += millis
      const { waiting } = this
      this.waiting = []
      for (const run of waiting) run()
    })
  }

  private happen(run: () => void): void {
    if (this.isCrashed) return
    if (this.isStopped) this.waiting.push(() => this.happen(run))
    else run()
  }

  private record(checks: readonly Check[], verdicts: readonly Verdict[], isAtOnce: boolean): void {
    if (this.isCrashed || verdicts.some(({ allowed }) => !allowed)) return
    for (const [i, { key, cost }] of checks.entries()) {
      const { source, at } = verdicts[i]!
      const one = { at: isAtOnce || source === 'lease' ? this.fleet.time.now : at, cost }
      this.admitted.push(one)
      this.fleet.admit(key, one)
    }
  }

  private link(): HoldStore {
    const { fleet } = this
    const call = <T>(run: () => T): Promise<T> => this.call(run)
    return {
      exchange: (settlements: readonly Settlement[], checks: readonly Check[]) =>
        call(() => fleet.exchange(settlements, checks)) as Promise<Exchanged>,
      take: (checks) => call(() => fleet.shared.take(checks)),
      peek: (checks) => call(() => fleet.shared.peek(checks)),
      refund: (checks) => call(() => fleet.shared.refund(checks)),
      reset: (checks) => call(() => fleet.shared.reset(checks)),
      close: () => {},
    }
  }

  private call<T>(run: () => T): Promise<T> {
    const { time, random, link } = this.fleet
    this.calls += 1
    const isLost = this.fleet.isCut || random.chance(link.lostCalls)
    const isAnswerLost = random.chance(link.lostAnswers)
    return new Promise((resolve, reject) => {
      const straight = time.now + random.next() * link.latency
      const there = link.isOrdered === true ? Math.max(straight, this.lastThere) : straight
      this.lastThere = there
      const back = there + random.next() * link.latency
      const late = new SluiceError('store-timeout', 'lost', { transient: true })
      if (isLost || isAnswerLost) time.at(time.now + TIMEOUT, () => this.happen(() => reject(late)))
      if (isLost) return
      time.at(there, () => {
        let answer: () => void
        try {
          const value = run()
          answer = () => resolve(value)
        } catch (error) {
          answer = () => reject(error as Error)
        }
        if (!isAnswerLost) time.at(back, () => this.happen(answer))
      })
    })
  }
}

/** Processes on one store, and everything that they have admitted, by key. */
export class LeaseFleet {
  readonly time = new VirtualTime(1_800_000_000_000)
  readonly random: Random
  shared: MemoryHoldStore
  /** Set: the store tells when it may have lost its record of what is out. */
  epoch: number | undefined
  private lostAt = -Infinity
  readonly options: FleetOptions
  /** Whether no call reaches the store. */
  isCut = false
  readonly link: LinkOptions
  readonly admitted = new Map<string, Admitted[]>()
  readonly processes: Process[] = []

  constructor(random: Random, processes: number, options: FleetOptions, link: LinkOptions) {
    this.random = random
    this.options = options
    this.link = link
    this.shared = this.freshStore()
    for (let i = 0; i < processes; i++) this.processes.push(new Process(this))
  }

  /** The store forgets everything, and grants nothing for one life. */
  lose(): void {
    this.lostAt = this.time.now
    this.epoch = (this.epoch ?? 0) + 1
    this.shared = this.freshStore()
  }

  exchange(settlements: readonly Settlement[], checks: readonly Check[]): Exchanged {
    const sinceLoss = this.time.now - this.lostAt
    if (checks.some(({ leaseLife }) => leaseLife !== undefined && sinceLoss < leaseLife))
      throw new SluiceError('store-learning', 'leases may have been lost', { transient: true })
    return { ...this.shared.exchange(settlements, checks), epoch: this.epoch }
  }

  private freshStore(): MemoryHoldStore {
    return withHolds(memoryStore({ clock: () => Math.floor(this.time.now) }))
  }

  admit(key: string, admitted: Admitted): void {
    const record = this.admitted.get(key)
    if (record === undefined) this.admitted.set(key, [admitted])
    else record.push(admitted)
  }

  unitsOf(key: string): number {
    return (this.admitted.get(key) ?? []).reduce((sum, { cost }) => sum + cost, 0)
  }
}

/** A check of a leased rule. */
export function leasedCheck(
  limit: Limit,
  key = 'k',
  cost = 1,
  coordination: Coordination = 'leased',
): Check {
  return { space: `s ${limit.algorithm}`, key, limit, cost, coordination }
}

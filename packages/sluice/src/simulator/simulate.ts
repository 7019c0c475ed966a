// Runs a scenario: the real stores, on time that passes from event to event.
import type { Check } from '../stores/store.ts'
import { arrivalsOfKind, START, type Arrival } from './arrivals.ts'
import { MODES } from './modes.ts'
import { Pod } from './pod.ts'
import { Random } from './random.ts'
import {
  readScenario,
  type ReadFault,
  type ReadScenario,
  type ReadTraffic,
} from './read-scenario.ts'
import { SimulationRecord } from './record.ts'
import type { SimulationResult } from './result.ts'
import type { Scenario } from './scenario.ts'
import { SharedStore } from './shared-store.ts'
import { VirtualTime } from './virtual-time.ts'

/** Decisions that are under way at the end get this long. */
const PATIENCE = 60_000

/**
 * Runs a scenario. The same scenario and seed give the same result, on any machine and in any browser.
 *
 * @example
 * ```ts
 * const result = await simulate(scenario)
 * ```
 */
export async function simulate(scenario: Scenario): Promise<SimulationResult> {
  return new Simulation(readScenario(scenario)).run()
}

/** One run. */
class Simulation {
  private readonly scenario: ReadScenario
  private readonly world = new VirtualTime(START)
  /** Makes the traffic alone, as in `arrivalsOf`: the same in every fleet and mode. */
  private readonly random: Random
  /** Everything else. */
  private readonly chance: Random
  private readonly shared: SharedStore
  private readonly pods: readonly Pod[]
  private readonly record: SimulationRecord
  /** The list with the one check of a key; made once. */
  private readonly checks = new Map<string, readonly [Check]>()

  constructor(scenario: ReadScenario) {
    this.scenario = scenario
    this.random = new Random(scenario.seed)
    this.chance = new Random(scenario.seed + 0.5 * 2 ** 32)
    const losesSome = scenario.faults.some(
      ({ type, lost }) => type === 'failover' && lost < Infinity,
    )
    this.shared = new SharedStore(this.world, losesSome)
    const mode = MODES[scenario.mode]
    this.record = new SimulationRecord(scenario, mode, this.world)
    this.pods = Array.from(
      { length: scenario.pods },
      () => new Pod(scenario, mode, this.world, this.shared, this.chance.fork()),
    )
  }

  async run(): Promise<SimulationResult> {
    const { scenario, world } = this
    for (const traffic of scenario.traffic) this.send(traffic)
    for (const fault of scenario.faults) world.at(START + fault.at, () => this.begin(fault))
    await world.passUntil(START + scenario.lasts)
    const calls = this.shared.calls
    this.isOver = true
    await world.passUntil(START + scenario.lasts + PATIENCE)
    const ends = this.pods.flatMap((pod) => pod.ends)
    for (const pod of this.pods) pod.close()
    this.shared.close()
    return this.record.result(calls, { store: this.shared.losses, pods: ends })
  }

  private isOver = false

  /** Sends the requests of one kind of caller, each when its time has come. */
  private send(traffic: ReadTraffic): void {
    const { world } = this
    const arrivals = arrivalsOfKind(traffic, this.scenario.limit, START, this.random.fork())
    const random = this.chance.fork()
    const next = (): void => {
      const arrival: IteratorResult<Arrival, void> = arrivals.next()
      if (arrival.done === true) return
      const { at, key } = arrival.value
      world.at(START + at, () => {
        this.ask(traffic, key, 0, random)
        next()
      })
    }
    next()
  }

  private ask(traffic: ReadTraffic, key: string, attempt: number, random: Random): void {
    if (this.isOver) return
    const checks = this.checksOf(key, traffic.cost)
    const arrivedAt = this.world.now
    this.record.noteRequest(checks)
    if (attempt > 0) this.record.retries += 1
    const pod = this.podFor(key, random)
    pod?.take(checks, (verdict) => {
      this.record.noteDecision(checks[0], verdict, arrivedAt, this.pods.indexOf(pod))
      const { retry } = traffic
      if (verdict.allowed || retry === undefined || attempt >= retry.attempts) return
      const wait = waitOf(retry, verdict.retryAfter, attempt, random)
      if (wait === undefined) return
      this.world.at(this.world.now + wait, () => this.ask(traffic, key, attempt + 1, random))
    })
  }

  private checksOf(key: string, cost: number): readonly [Check] {
    const name = cost === 1 ? key : `${cost} ${key}`
    let checks = this.checks.get(name)
    if (checks === undefined) {
      const { limit, onFailure, mode } = this.scenario
      const check = { space: 'simulated', key, limit, cost, onStoreFailure: onFailure }
      const isCoordinated = mode === 'leased' || mode === 'auto' || mode === 'synced'
      checks = [isCoordinated ? { ...check, coordination: mode } : check]
      this.checks.set(name, checks)
    }
    return checks
  }

  /** A pod that is up. Undefined when none is. */
  private podFor(key: string, random: Random): Pod | undefined {
    const { routing } = this.scenario
    const { length } = this.pods
    const first =
      routing === 'sticky'
        ? hashOf(key) % length
        : routing === 'balanced'
          ? random.below(length)
          : skewedTo(routing.skewed, length, random)
    for (let i = 0; i < length; i++) {
      const pod = this.pods[(first + i) % length]!
      if (pod.isUp) return pod
    }
    return undefined
  }

  private begin({ type, lasts, pod, lost }: ReadFault): void {
    const { shared, world } = this
    const after = (run: () => void): void => void world.at(world.now + lasts, run)
    if (type === 'outage') {
      shared.isUp = false
      after(() => (shared.isUp = true))
    } else if (type === 'stall') {
      shared.stall()
      after(() => shared.resume())
    } else if (type === 'failover') shared.failOver(world.clock() - lost)
    else if (type === 'rolling-restart') this.restartFrom(0, lasts)
    else {
      const one = this.pods[pod]!
      if (type === 'crash') one.crash()
      else one.suspend()
      after(() => (type === 'crash' ? one.restart() : one.resume()))
    }
  }

  /** Restarts the pods one after the other: the next is closed when the last is back. */
  private restartFrom(number: number, lasts: number): void {
    const pod = this.pods[number]
    if (pod === undefined) return
    pod.close()
    this.world.at(this.world.now + lasts, () => {
      pod.restart()
      this.restartFrom(number + 1, lasts)
    })
  }
}

/** How long a refused caller waits; undefined when its cost can never pass. */
function waitOf(
  { wait, first, jitter }: NonNullable<ReadTraffic['retry']>,
  retryAfter: number | null,
  attempt: number,
  random: Random,
): number | undefined {
  if (wait === 'retry-after') {
    if (retryAfter === null) return undefined
    return jitter ? retryAfter * (1 + random.next()) : retryAfter
  }
  const full = wait === 'backoff' ? first * 2 ** attempt : first
  return jitter ? random.next() * full : full
}

/** The first pod gets its share, and the others share the rest evenly. */
function skewedTo(share: number, pods: number, random: Random): number {
  return pods === 1 || random.next() < share ? 0 : 1 + random.below(pods - 1)
}

/** FNV-1a: which pod a key belongs to. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

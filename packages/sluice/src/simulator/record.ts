// Records what the pods decided, and computes the result at the end.
import type { Source, Verdict } from '../limit/verdict.ts'
import { memoryStore, type MemoryStore } from '../stores/memory/memory-store.ts'
import type { Check } from '../stores/store.ts'
import { boundsOf, type ByPod, type Losses } from './bounds.ts'
import { excessOf, inOrder, mostWithin, type Admitted } from './excess.ts'
import type { Mode } from './modes.ts'
import type { ReadScenario } from './read-scenario.ts'
import type { KeyCount, Latency, SimulationResult, Timeline } from './result.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Steps of the timeline. */
const STEPS = 240
const WORST_KEYS = 10
/** Latencies are counted in steps of 1/20 ms, up to a minute. */
const LATENCY_STEPS_PER_MS = 20
const MAX_LATENCY_MS = 60_000

/** What is known of one key. */
interface KeyRecord {
  requests: number
  refused: number
  refusedSince: number | undefined
  longestRefused: number
  /** Admitted by the shared store, by units leased from it, or by a copy of its count. */
  readonly shared: ByPod[]
  /** Admitted by a pod's own counts. */
  readonly own: Admitted[]
}

/** The record of a run. */
export class SimulationRecord {
  retries = 0
  asked = 0
  private readonly scenario: ReadScenario
  private readonly mode: Mode
  private readonly world: VirtualTime
  private readonly start: number
  private readonly keys = new Map<string, KeyRecord>()
  private readonly ideals: MemoryStore
  private readonly timeline: Record<Exclude<keyof Timeline, 'step'>, number[]>
  private readonly step: number
  private readonly bySource: Partial<Record<Source, number>> = {}
  private readonly latencies = new Map<number, number>()
  private latencySum = 0
  private maxLatency = 0
  private decisions = 0
  private allowed = 0
  private idealUnits = 0
  private allowedUnits = 0

  constructor(scenario: ReadScenario, mode: Mode, world: VirtualTime) {
    this.scenario = scenario
    this.mode = mode
    this.world = world
    this.start = world.now
    this.ideals = memoryStore({ clock: world.clock })
    this.step = Math.max(1, Math.ceil(scenario.lasts / STEPS))
    const steps = Math.ceil(scenario.lasts / this.step)
    const zeros = (): number[] => new Array<number>(steps).fill(0)
    this.timeline = { demand: zeros(), allowed: zeros(), refused: zeros(), ideal: zeros() }
  }

  /** A request arrives. */
  noteRequest(checks: readonly Check[]): void {
    this.asked += 1
    this.count('demand')
    if (!this.ideals.take(checks)[0]!.allowed) return
    this.idealUnits += checks[0]!.cost
    this.count('ideal')
  }

  /** A request that arrived at an instant is decided by a pod. */
  noteDecision({ key, cost }: Check, verdict: Verdict, arrivedAt: number, pod: number): void {
    const now = this.world.now
    const record = this.recordOf(key)
    const { allowed, source } = verdict
    this.decisions += 1
    this.bySource[source] = (this.bySource[source] ?? 0) + 1
    this.addLatency(now - arrivedAt)
    record.requests += 1
    this.count(allowed ? 'allowed' : 'refused')
    if (!allowed) {
      record.refused += 1
      record.refusedSince ??= now
      record.longestRefused = Math.max(record.longestRefused, now - record.refusedSince)
      return
    }
    this.allowed += 1
    this.allowedUnits += cost
    record.refusedSince = undefined
    // A pod that decides by leased units or its own copy decides now; a verdict of the store has its own instant.
    const isDecidedByPod =
      source === 'lease' || (source === 'memory' && this.mode.isSynced === true)
    const at = isDecidedByPod ? this.world.clock() : verdict.at
    if (isDecidedByPod || source === 'store') record.shared.push({ at, cost, pod })
    else record.own.push({ at, cost })
  }

  result(storeCalls: number, losses: Losses): SimulationResult {
    const { scenario, decisions, idealUnits, allowedUnits, timeline, step } = this
    const { name, seed, limit, pods, lasts } = scenario
    this.ideals.close()
    const share = (units: number): number =>
      idealUnits === 0 ? 0 : Math.max(0, units / idealUnits)
    return {
      name,
      seed,
      mode: scenario.mode,
      limit,
      pods,
      lasts,
      decisions,
      retries: this.retries,
      allowed: this.allowed,
      refused: decisions - this.allowed,
      lost: this.asked - decisions,
      ideal: idealUnits,
      over: share(allowedUnits - idealUnits),
      under: share(idealUnits - allowedUnits),
      excess: this.worst(({ shared, own }) => excessOf(limit, inOrder([...shared, ...own]))),
      peak: this.worst(({ shared, own }) => mostWithin(limit.window, inOrder([...shared, ...own]))),
      bounds: boundsOf(scenario, this.mode, [...this.keys.values()], losses),
      storeCalls,
      storeCallsPerDecision: decisions === 0 ? 0 : storeCalls / decisions,
      latency: this.latency(),
      bySource: this.bySource,
      timeline: { step, ...timeline },
      keys: this.keyCounts(),
    }
  }

  private worst(excess: (record: KeyRecord) => number): number {
    let worst = 0
    for (const record of this.keys.values()) worst = Math.max(worst, excess(record))
    return worst
  }

  private recordOf(key: string): KeyRecord {
    let record = this.keys.get(key)
    if (record === undefined) {
      const counts = { requests: 0, refused: 0, refusedSince: undefined, longestRefused: 0 }
      record = { ...counts, shared: [], own: [] }
      this.keys.set(key, record)
    }
    return record
  }

  private count(what: keyof typeof this.timeline): void {
    const list = this.timeline[what]
    const step = Math.floor((this.world.now - this.start) / this.step)
    list[Math.min(step, list.length - 1)]! += 1
  }

  private addLatency(millis: number): void {
    const slot = Math.round(Math.min(millis, MAX_LATENCY_MS) * LATENCY_STEPS_PER_MS)
    this.latencies.set(slot, (this.latencies.get(slot) ?? 0) + 1)
    this.latencySum += millis
    this.maxLatency = Math.max(this.maxLatency, millis)
  }

  private latency(): Latency {
    const slots = [...this.latencies].sort(([a], [b]) => a - b)
    const quantile = (share: number): number => {
      let left = share * this.decisions
      for (const [slot, count] of slots)
        if ((left -= count) <= 0) return slot / LATENCY_STEPS_PER_MS
      return 0
    }
    const mean = this.decisions === 0 ? 0 : this.latencySum / this.decisions
    return { mean, p50: quantile(0.5), p99: quantile(0.99), max: this.maxLatency }
  }

  private keyCounts(): SimulationResult['keys'] {
    const all: KeyCount[] = [...this.keys].map(([key, { requests, refused, longestRefused }]) => ({
      key,
      requests,
      refused,
      longestRefused: Math.round(longestRefused),
    }))
    const hit = all.filter(({ refused }) => refused > 0)
    const worst = hit.sort((a, b) => b.refused - a.refused).slice(0, WORST_KEYS)
    return { count: all.length, hit: hit.length, worst }
  }
}

// What a simulation reports: plain data, before it is text or a picture.
import type { Limit } from '../limit/limit.ts'
import type { Source } from '../limit/verdict.ts'
import type { Millis } from '../time/clock.ts'
import type { ModeName } from './scenario.ts'

/**
 * The result of one simulation.
 *
 * @example
 * ```ts
 * const { allowed, ideal, excess }: SimulationResult = await simulate(scenario)
 * ```
 */
export interface SimulationResult {
  readonly name: string
  readonly seed: number
  readonly mode: ModeName
  readonly limit: Limit
  readonly pods: number
  readonly lasts: Millis
  /** Requests that were decided, with retries. */
  readonly decisions: number
  /** Those that were tries after a refusal. */
  readonly retries: number
  readonly allowed: number
  readonly refused: number
  /** Requests of pods that ended before they answered. */
  readonly lost: number
  /** What one decider without any latency allows of the same requests. */
  readonly ideal: number
  /** Units allowed beyond the ideal, as a share of it; 0 if there are fewer. */
  readonly over: number
  /** Units allowed short of the ideal, as a share of it; 0 if there are more. */
  readonly under: number
  /** The most units by which any span of any key exceeds the limit. */
  readonly excess: number
  /** The most units of any key that were allowed within any span of one window. */
  readonly peak: number
  /** What the mode promises, besides what was measured. */
  readonly bounds: readonly Bound[]
  readonly storeCalls: number
  readonly storeCallsPerDecision: number
  /** Milliseconds from a request to its decision. */
  readonly latency: Latency
  /** Decisions by what decided. */
  readonly bySource: Readonly<Partial<Record<Source, number>>>
  readonly timeline: Timeline
  readonly keys: KeyCounts
}

/**
 * One promise of a mode: at most so many units beyond the limit in any span.
 *
 * @example
 * ```ts
 * const { bounds } = await simulate(scenario)
 * const broken = bounds.filter((bound: Bound) => !bound.holds)
 * ```
 */
export interface Bound {
  readonly about: string
  readonly units: number
  readonly measured: number
  readonly holds: boolean
}

/**
 * Milliseconds that decisions took.
 *
 * @example
 * ```ts
 * const { p50, p99 }: Latency = (await simulate(scenario)).latency
 * ```
 */
export interface Latency {
  readonly mean: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/**
 * Requests per step of time; the first step begins with the simulation.
 *
 * @example
 * ```ts
 * const { step, allowed }: Timeline = (await simulate(scenario)).timeline
 * ```
 */
export interface Timeline {
  readonly step: Millis
  readonly demand: readonly number[]
  readonly allowed: readonly number[]
  readonly refused: readonly number[]
  readonly ideal: readonly number[]
}

/**
 * What became of the keys.
 *
 * @example
 * ```ts
 * const { count, hit }: KeyCounts = (await simulate(scenario)).keys
 * ```
 */
export interface KeyCounts {
  readonly count: number
  /** Keys that were refused at least once. */
  readonly hit: number
  /** The keys with the most refusals. */
  readonly worst: readonly KeyCount[]
}

/**
 * What became of one key.
 *
 * @example
 * ```ts
 * const text = ({ key, refused, requests }: KeyCount) => `${key}: ${refused} of ${requests} refused`
 * ```
 */
export interface KeyCount {
  readonly key: string
  readonly requests: number
  readonly refused: number
  /** The longest time in which every request of the key was refused. */
  readonly longestRefused: Millis
}

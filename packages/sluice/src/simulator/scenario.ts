// What a simulation is made from: plain data that a file may hold.
import type { LimitInput, RateText } from '../limit/limit.ts'
import type { OnStoreFailure } from '../limit/verdict.ts'
import type { Duration } from '../time/duration.ts'

/**
 * How the pods decide together. `strict`: by the shared store; `leased`: by units taken from it in advance; `auto`:
 * strict, and leased while a key is hot; `synced`: each by its copy of the counts, added up now and then; `local`: each by its share of the limit; `per-pod`: each
 * by the whole limit; `drop`: at random, by an estimate of the fleet's rate.
 *
 * @example
 * ```ts
 * const mode: ModeName = 'leased'
 * ```
 */
export type ModeName = 'strict' | 'leased' | 'auto' | 'synced' | 'local' | 'per-pod' | 'drop'

/**
 * Every mode, in the order of reports.
 *
 * @example
 * ```ts
 * for (const mode of MODE_NAMES) console.log(mode, (await simulate({ ...scenario, mode })).excess)
 * ```
 */
export const MODE_NAMES: readonly ModeName[] = [
  'strict',
  'leased',
  'auto',
  'synced',
  'local',
  'per-pod',
  'drop',
]

/**
 * One simulation: a limit, the traffic, and the fleet that decides.
 *
 * @example
 * ```ts
 * const scenario: Scenario = {
 *   ...{ lasts: '60s', limit: '100/s', mode: 'leased', pods: 4 },
 *   traffic: [{ shape: 'poisson', rate: '150/s' }],
 * }
 * ```
 */
export interface Scenario {
  readonly name?: string
  /** What the scenario shows, in a sentence. */
  readonly about?: string
  /** Repeats every random choice. Default 1. */
  readonly seed?: number
  readonly lasts: Duration
  readonly limit: LimitInput
  readonly traffic: readonly Traffic[]
  /** Default `strict`. */
  readonly mode?: ModeName
  /** Default 1. */
  readonly pods?: number
  /** How requests find a pod. Default `balanced`: any pod. `sticky`: by the key. */
  readonly routing?: Routing
  readonly store?: SharedStoreOptions
  readonly faults?: readonly Fault[]
}

/**
 * How requests find a pod; `skewed` is the share of the first pod, from 0 to 1.
 *
 * @example
 * ```ts
 * const routing: Routing = { skewed: 0.8 } // the first pod gets 80 % of the requests
 * ```
 */
export type Routing = 'balanced' | 'sticky' | { readonly skewed: number }

/**
 * The store that the pods share.
 *
 * @example
 * ```ts
 * const store: SharedStoreOptions = { latency: [1, 3], timeout: '50ms' }
 * ```
 */
export interface SharedStoreOptions {
  /** Milliseconds of a round trip: always the same, or between two numbers. Default 1. */
  readonly latency?: number | readonly [least: number, most: number]
  /** After how long a pod gives a call up. Default 100 ms. */
  readonly timeout?: Duration
  /** What the rule does while the store does not answer. Default `local`, with the quota divided by the pods. */
  readonly onFailure?: OnStoreFailure
}

/**
 * When requests come. `steady`: evenly spaced; `poisson`: at random; `bursts`: at random while they are on; `edges`:
 * `count` just before and `count` just after each edge of the limit's window; `once`: `count` at `from`.
 *
 * @example
 * ```ts
 * const shape: TrafficShape = 'bursts'
 * ```
 */
export type TrafficShape = 'steady' | 'poisson' | 'bursts' | 'edges' | 'once'

/**
 * One kind of caller.
 *
 * @example
 * ```ts
 * const traffic: Traffic = { shape: 'poisson', rate: '150/s', keys: 20 }
 * ```
 */
export interface Traffic {
  /** Begins its keys. Default `client`. */
  readonly name?: string
  readonly shape: TrafficShape
  /** Requests of all its keys together: `50/s`. For steady, poisson and bursts (while they are on). */
  readonly rate?: RateText
  /** Requests at once, for edges and once. */
  readonly count?: number
  /** Over how long `count` requests come. Default 1 ms each, at most 100 ms. */
  readonly spread?: Duration
  /** For bursts. Default 1 s on, 9 s off. */
  readonly on?: Duration
  readonly off?: Duration
  readonly from?: Duration
  readonly until?: Duration
  /** How many keys it has. Default 1. */
  readonly keys?: number
  /** How unequal its keys are, by Zipf's law; 0 makes them equal. Default 0. */
  readonly zipf?: number
  /** Default 1. */
  readonly cost?: number
  /** What it does when it is refused. Default: nothing. */
  readonly retry?: Retry
}

/**
 * How a refused caller tries again.
 *
 * @example
 * ```ts
 * const retry: Retry = { attempts: 3, wait: 'backoff', first: '200ms', jitter: true }
 * ```
 */
export interface Retry {
  /** Tries after the first. */
  readonly attempts: number
  /** `fixed`: always `first`; `backoff`: twice as long each time; `retry-after`: as the refusal says. Default `fixed`. */
  readonly wait?: 'fixed' | 'backoff' | 'retry-after'
  /** Default 1 s. */
  readonly first?: Duration
  /**
   * With jitter a wait is drawn: from 0 to all of it; for `retry-after`, from the wait to twice the wait. Default false.
   */
  readonly jitter?: boolean
}

/**
 * Something that goes wrong. `outage`: the store refuses connections; `stall`: it hangs, and acts later; `failover`: it
 * loses its last writes; `crash`: a pod ends at once and is back later; `suspend`: a pod stands still and goes
 * on; `rolling-restart`: one pod after the other is closed and started again.
 *
 * @example
 * ```ts
 * const fault: Fault = { at: '20s', type: 'outage', lasts: '5s' }
 * ```
 */
export interface Fault {
  readonly at: Duration
  readonly type: 'outage' | 'stall' | 'failover' | 'crash' | 'suspend' | 'rolling-restart'
  /** How long, for all but a failover. Default 1 s. */
  readonly lasts?: Duration
  /** Which pod, from 0. Default 0. */
  readonly pod?: number
  /** Failover: the writes of how long are lost. Default: all. */
  readonly lost?: Duration
}

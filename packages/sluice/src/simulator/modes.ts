// The table of modes: which stores a pod decides by, and what the fleet may admit beyond the limit.
import { withLeases } from '../coordination/leased-store.ts'
import { withSync } from '../coordination/synced-store.ts'
import type { Limit } from '../limit/limit.ts'
import { withResilience } from '../resilience/resilient-store.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { withRefusalCache } from '../stores/refusal-cache/refusal-cache.ts'
import type { RemoteHoldStore } from '../stores/holds/hold-store.ts'
import type { AsyncStore, Check, Store, SyncStore } from '../stores/store.ts'
import type { Clock } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import { dropStore } from './drop-store.ts'
import type { ReadScenario } from './read-scenario.ts'
import type { ModeName } from './scenario.ts'

/** What the stores of a pod are made from. */
export interface PodContext {
  readonly scenario: ReadScenario
  /** The way to the store that all pods share. */
  readonly remote: RemoteHoldStore
  readonly clock: Clock
  readonly timers: Timers
  /** The present instant with fractions of a millisecond. */
  readonly now: () => number
  readonly random: () => number
}

/** One row of the table. */
export interface Mode {
  /** The stores of one pod. */
  store(context: PodContext): Store
  /** What one pod counts by itself, if it does: the shared store is never asked, or does not answer. */
  ownLimit(scenario: ReadScenario): Limit | undefined
  /** False when nothing bounds what the fleet admits. */
  readonly isBounded: boolean
  /** Whether pods decide by copies of shared counts. In one interval each of them may take what the others do not see. */
  readonly isSynced?: boolean
}

/** For how long a pod answers a refusal from memory, as the store for Redis does. */
const REFUSAL_HOLD = 250

/** A limit divided by the pods; never below 1, unless it is 0. */
function shareOf(limit: Limit, pods: number): Limit {
  const share = (units: number): number => (units === 0 ? 0 : Math.max(1, Math.floor(units / pods)))
  return { ...limit, quota: share(limit.quota), burst: share(limit.burst) }
}

/** Leases between the refusal cache and the store; the check says which kind. */
const leasing: Mode = {
  store: (context) => {
    const { now, timers, random, remote } = context
    return guarded(context, withLeases(remote, {}, { clock: { now }, timers, random }))
  },
  ownLimit: ({ limit, pods }) => shareOf(limit, pods),
  isBounded: true,
}

/** Every mode by its name. */
export const MODES: Readonly<Record<ModeName, Mode>> = {
  strict: {
    store: (context) => guarded(context, context.remote),
    ownLimit: ({ limit, pods }) => shareOf(limit, pods),
    isBounded: true,
  },
  leased: leasing,
  auto: leasing,
  synced: {
    store: (context) => {
      const { now, timers, random, remote } = context
      const environment = { clock: { now }, timers, random }
      return guarded(context, withSync(withLeases(remote, {}, environment), {}, environment))
    },
    ownLimit: ({ limit, pods }) => shareOf(limit, pods),
    isBounded: true,
    isSynced: true,
  },
  local: {
    store: ({ scenario, clock }) =>
      withLimit(memoryStore({ clock }), shareOf(scenario.limit, scenario.pods)),
    ownLimit: ({ limit, pods }) => shareOf(limit, pods),
    isBounded: true,
  },
  'per-pod': {
    store: ({ clock }) => memoryStore({ clock }),
    ownLimit: ({ limit }) => limit,
    isBounded: true,
  },
  drop: {
    store: ({ scenario, clock, random }) => dropStore(scenario.pods, clock, random),
    ownLimit: () => undefined,
    isBounded: false,
  },
}

/** The order of stores of a process on Redis: resilience around the refusal cache around the way to the store. */
function guarded(context: PodContext, store: AsyncStore): Store {
  const { scenario, clock, timers, random } = context
  const cached = withRefusalCache(store, {
    hold: REFUSAL_HOLD,
    clock,
  })
  return withResilience(
    cached,
    { timeout: scenario.timeout, replicas: scenario.pods, onEvent: () => {} },
    { clock, timers, random },
  )
}

/** A store that decides every check by one limit. */
function withLimit(store: SyncStore, limit: Limit): SyncStore {
  const limited = (checks: readonly Check[]): readonly Check[] =>
    checks.map((check) => ({ ...check, limit }))
  return {
    sync: true,
    take: (checks) => store.take(limited(checks)),
    peek: (checks) => store.peek(limited(checks)),
    refund: (checks) => store.refund(limited(checks)),
    reset: (checks) => store.reset(limited(checks)),
    close: () => store.close(),
  }
}

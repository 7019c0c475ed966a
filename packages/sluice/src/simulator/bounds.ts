// What a mode promises, held against the record of a run after every unit that was admitted.
import { SYNC_INTERVAL } from '../coordination/options.ts'
import type { Limit } from '../limit/limit.ts'
import type { Millis } from '../time/clock.ts'
import { excesses, inOrder, mostWithin, type Admitted } from './excess.ts'
import type { Mode } from './modes.ts'
import type { ReadScenario } from './read-scenario.ts'
import type { Bound } from './result.ts'

/** Units that one pod admitted. */
export interface ByPod extends Admitted {
  readonly pod: number
}

/** What was admitted of one key: by shared counts, and by counts of single pods. */
interface AdmittedOfKey {
  readonly shared: readonly ByPod[]
  readonly own: readonly Admitted[]
}

/** When the faults of a run made something forgotten. */
export interface Losses {
  /** When the store lost writes. */
  readonly store: readonly Millis[]
  /** When a pod ended. */
  readonly pods: readonly Millis[]
}

/**
 * The bounds of a mode; none if it has none. Lost writes hand out a burst once more, and so does a pod that begins again
 * with what it counts itself. Of synced counts, all pods but one may have taken in one interval what the others have not
 * seen; the last one too if calls are lost; and a pod that ends takes that along.
 */
export function boundsOf(
  scenario: ReadScenario,
  mode: Mode,
  keys: readonly AdmittedOfKey[],
  { store, pods: ends }: Losses,
): Bound[] {
  if (!mode.isBounded || scenario.onFailure === 'open') return []
  const { limit, pods } = scenario
  const unseen = mode.isSynced === true ? mostPerInterval(keys) : 0
  const shared = keys.map((key) => key.shared)
  const [, longest] = scenario.latency
  const isReliable = scenario.faults.length === 0 && longest < scenario.timeout
  const unaware = isReliable ? pods - 1 : pods
  const beyond = (at: Millis): number =>
    until(store, at) * limit.burst + (unaware + until(ends, at)) * unseen
  const bounds = [bound('the shared store', limit, shared, beyond)]
  const own = mode.ownLimit(scenario)
  if (own !== undefined) {
    const together = { ...own, quota: own.quota * pods, burst: own.burst * pods }
    const lists = keys.map((key) => key.own)
    const begun = (at: Millis): number => until(ends, at) * own.burst
    bounds.push(bound('the pods by themselves', together, lists, begun))
  }
  return bounds
}

/** What was admitted of a limit; `beyond` says how far it may exceed the limit by an instant. */
function bound(
  about: string,
  limit: Limit,
  lists: readonly (readonly Admitted[])[],
  beyond: (at: Millis) => number,
): Bound {
  let holds = true
  let measured = 0
  for (const list of lists)
    for (const { at, units } of excesses(limit, inOrder(list))) {
      if (units > beyond(at)) holds = false
      measured = Math.max(measured, units)
    }
  return { about, units: beyond(Infinity), measured, holds }
}

/** The most that any pod admitted of one key in one interval. */
function mostPerInterval(keys: readonly AdmittedOfKey[]): number {
  let most = 0
  for (const { shared } of keys) {
    const byPod = new Map<number, ByPod[]>()
    for (const one of inOrder(shared)) {
      const own = byPod.get(one.pod)
      if (own === undefined) byPod.set(one.pod, [one])
      else own.push(one)
    }
    // Instants are whole milliseconds.
    for (const own of byPod.values()) most = Math.max(most, mostWithin(SYNC_INTERVAL + 1, own))
  }
  return most
}

/** How many of the instants have come. */
function until(instants: readonly Millis[], at: Millis): number {
  return instants.filter((instant) => instant <= at).length
}

// The faults of the store again, with a limit that is leased.
import { LEASE_LIFE } from '../pod-limiter.ts'
import type { Scenario } from '../scenario.ts'
import { silent } from './silent.ts'
import { slow } from './slow.ts'
import { unable } from './unable.ts'
import { unreachable } from './unreachable.ts'

/** Those that every run of the tests repeats. */
const CHOSEN: readonly string[] = [
  'killed, restarted with its data',
  'stopped (SIGSTOP) 10 s',
  'lost replies',
  'READONLY: made a replica',
]

/** A server that was started decides nothing about leased counts for one lease life. */
function withLeases(scenario: Scenario): Scenario {
  const { name, bounds, load } = scenario
  const recovery = (bounds.recovery ?? 1000) + LEASE_LIFE
  return {
    ...scenario,
    name: `leased: ${name}`,
    bounds: { ...bounds, recovery },
    load: { ...load, isLeased: true },
    isExtra: !CHOSEN.includes(name),
  }
}

export const leased: readonly Scenario[] = [...unreachable, ...slow, ...silent, ...unable].map(
  withLeases,
)

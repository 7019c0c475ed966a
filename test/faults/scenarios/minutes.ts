// Limits that give units back while the store is unreachable: what was used up stays used up but for those.
import type { Held, Times } from '../figures.ts'
import { ALLOWED, DEGRADED, type Orders, type PodRecord } from '../orders.ts'
import { onServer } from '../places.ts'
import { type Place, type Scenario, SHARE } from '../scenario.ts'

const MINUTE = 60_000

/** The units of the used-up key that the fallback admits, and what time gives back meanwhile. */
const measure: NonNullable<Place['measure']> = (
  { at, answer, key }: PodRecord,
  times: Times,
  orders: Orders,
): Held[] => {
  const { quota, window } = orders
  const isFallback = (bits: number): boolean =>
    (bits & (ALLOWED | DEGRADED)) === (ALLOWED | DEGRADED)
  const admitted = key.filter(
    (number, i) => number < 0 && at[i]! >= times.begin && isFallback(answer[i]!),
  ).length
  const lasted = at.at(-1)! - times.begin
  // One more for the unit that was nearly due when the fault began.
  const due = Math.ceil((SHARE * quota * lasted) / window) + 1
  // On a busy machine the fallback may have begun before the key was known to be used up.
  return [{ what: 'units of a used-up key', value: admitted, most: due, isTimed: true }]
}

/** A server that hangs, under a limit of so many a minute. */
function hanging(quota: number): Scenario {
  const open = onServer(async (server, { begin, back, last }) => {
    begin()
    server.kill('SIGSTOP')
    await last()
    server.kill('SIGCONT')
    back()
  })
  return {
    name: `${quota} a minute, stopped (SIGSTOP)`,
    length: { test: 4000, full: 10_000 },
    load: { quota, window: MINUTE },
    open: async (seed) => ({ ...(await open(seed)), measure }),
    // Time gives units back before and after the fault, too.
    bounds: { again: Infinity },
  }
}

export const minutes: readonly Scenario[] = [hanging(100), hanging(1000)]

// Limits that give units back while the store is unreachable: what was used up stays used up but for those.
import type { Held, Times } from '../figures.ts'
import { ALLOWED, DEGRADED, type Orders, type PodRecord } from '../orders.ts'
import { onServer } from '../places.ts'
import { type Place, type Scenario, SHARE } from '../scenario.ts'

const MINUTE = 60_000

/** The units of the used-up key that the fallback admits, and what time gives back meanwhile. */
const measure: NonNullable<Place['measure']> = (
  { at, answer, key }: PodRecord,
  { begin }: Times,
  { quota, window }: Orders,
): Held[] => {
  const degraded = [...at.keys()].filter((i) => key[i]! < 0 && (answer[i]! & DEGRADED) !== 0)
  const admitted = degraded.filter((i) => at[i]! >= begin && (answer[i]! & ALLOWED) !== 0)
  // On a busy machine the fallback may have begun before the store had refused the key: it then has its share left.
  const left = degraded.some((i) => at[i]! < begin) ? SHARE * quota : 0
  // One more for the unit that was nearly due when the fault began.
  const due = Math.ceil((SHARE * quota * (at.at(-1)! - begin)) / window) + 1
  return [{ what: 'units of a used-up key', value: admitted.length, most: left + due }]
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

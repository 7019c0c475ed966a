// For comparison: refuses at random, as often as an estimate of the fleet's rate says, and counts nothing together.
import type { Verdict } from '../limit/verdict.ts'
import type { Check, SyncStore } from '../stores/store.ts'
import type { Clock, Millis } from '../time/clock.ts'

/** The requests of one key that this pod has seen: in the current window and in the one before. */
interface Seen {
  start: Millis
  now: number
  before: number
}

/**
 * Each pod takes its own rate times the pods for the fleet's rate, and refuses with probability 1 − quota ÷ that rate.
 * The window of the limit is the window of the estimate.
 */
export function dropStore(pods: number, clock: Clock, random: () => number): SyncStore {
  const keys = new Map<string, Seen>()
  const decide = ({ key, limit, cost }: Check): Verdict => {
    const now = clock()
    const { window, quota } = limit
    const start = now - (now % window)
    const seen = keys.get(key) ?? { start, now: 0, before: 0 }
    if (seen.start !== start) {
      seen.before = seen.start === start - window ? seen.now : 0
      seen.now = 0
      seen.start = start
    }
    seen.now += cost
    keys.set(key, seen)
    const estimate = (seen.now + seen.before * (1 - (now - start) / window)) * pods
    const allowed = random() * estimate < quota
    const wait = allowed ? 0 : Math.ceil(window / quota)
    const numbers = { remaining: 0, resetAfter: window, availableAfter: wait, delay: 0 }
    return { allowed, retryAfter: wait, ...numbers, at: now, source: 'memory' }
  }
  return {
    sync: true,
    take: (checks) => checks.map(decide),
    peek: (checks) => checks.map(decide),
    refund: () => {},
    reset: (checks) => checks.forEach(({ key }) => keys.delete(key)),
    close: () => keys.clear(),
  }
}

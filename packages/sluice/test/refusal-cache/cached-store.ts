// A refusal cache around a store that tests can look into.
import { LazyVerdict } from '../../src/limit/take.ts'
import { limit } from '../../src/limit/limit.ts'
import type { Verdict } from '../../src/limit/verdict.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { CheckWithState } from '../../src/stores/refusal-cache/cached-count.ts'
import { withRefusalCache } from '../../src/stores/refusal-cache/refusal-cache.ts'
import type { AsyncStore, Check } from '../../src/stores/store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'

/** When tests begin. */
export const START = 1_800_000_000_000
/** Milliseconds for which refusals are answered from the cache. */
export const HOLD = 250
const TEN = limit('10/min')

/** A cache around a store that answers by promises and records its requests; `others` is the store behind both. */
export function cachedStore({ hold = HOLD, mayDropCounts = false } = {}) {
  const clock = fakeClock(START)
  const others = memoryStore({ clock })
  const asked: (readonly CheckWithState[])[] = []
  /** Answers wait for this while a test holds them back. */
  let gate: Promise<void> = Promise.resolve()
  const store: AsyncStore = {
    async take(checks) {
      asked.push(checks)
      const verdicts = others.take(checks).map(asFromRedis)
      await gate
      return verdicts
    },
    peek: async (checks) => others.peek(checks),
    refund: async (checks) => others.refund(checks),
    reset: async (checks) => others.reset(checks),
    close: async () => others.close(),
  }
  const dropping = { isPossible: mayDropCounts, isQueried: true, query: async () => {} }
  const options = { hold, clock, dropping }
  const holdBack = (): (() => void) => {
    let release = (): void => {}
    gate = new Promise((resolve) => (release = resolve))
    return release
  }
  return { clock, others, asked, holdBack, store: withRefusalCache(store, options) }
}

/** As from Redis, which returns no state of a log. */
function asFromRedis(verdict: Verdict): Verdict {
  return verdict instanceof LazyVerdict && 'whole' in verdict ? verdict.toJSON() : verdict
}

/** A check of one unit by 10 a minute. */
export function on(key: string, more: Partial<Check> = {}): Check {
  return { space: 'one', key, limit: TEN, cost: 1, ...more }
}

/** The verdicts as plain data, without what decided. */
export const numbers = (verdicts: readonly Verdict[]): unknown =>
  JSON.parse(JSON.stringify(verdicts.map((verdict) => ({ ...toJSON(verdict), source: undefined }))))

function toJSON(verdict: Verdict): Verdict {
  return verdict instanceof LazyVerdict ? verdict.toJSON() : verdict
}

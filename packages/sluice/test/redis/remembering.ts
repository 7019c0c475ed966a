// A store that remembers refusals, in front of one that tests can look into.
import { LazyVerdict } from '../../src/limit/take.ts'
import { limit } from '../../src/limit/limit.ts'
import type { Verdict } from '../../src/limit/verdict.ts'
import { RememberingStore, type SeenStore } from '../../src/redis/remembering-store.ts'
import type { RemindingCheck } from '../../src/redis/shape.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Check } from '../../src/stores/store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'

/** When tests begin. */
export const START = 1_800_000_000_000
/** Milliseconds for which refusals are remembered. */
export const HOLD = 250
const TEN = limit('10/min')

/** A store that answers by promises, and counts how often it is asked; `others` ask it too. */
export function remembering({ hold = HOLD, mayForget = false } = {}) {
  const clock = fakeClock(START)
  const others = memoryStore({ clock })
  const asked: (readonly RemindingCheck[])[] = []
  /** Resolves what was asked, when a test holds it back. */
  let gate: Promise<void> = Promise.resolve()
  const store: SeenStore = {
    async take(checks, see = (verdicts) => verdicts) {
      asked.push(checks)
      const verdicts = others.take(checks).map(told)
      await gate
      return see(verdicts)
    },
    peek: async (checks) => others.peek(checks),
    refund: async (checks) => others.refund(checks),
    reset: async (checks) => others.reset(checks),
    close: async () => others.close(),
  }
  const parts = { store, hold, clock, mayForget: () => mayForget, onAnswer: () => {} }
  const holdBack = (): (() => void) => {
    let release = (): void => {}
    gate = new Promise((resolve) => (release = resolve))
    return release
  }
  return { clock, others, asked, holdBack, store: new RememberingStore(parts) }
}

/** As Redis tells it: of a log the verdict alone. */
function told(verdict: Verdict): Verdict {
  return verdict instanceof LazyVerdict && 'whole' in verdict ? verdict.toJSON() : verdict
}

/** A check of one unit by 10 a minute. */
export function on(key: string, more: Partial<Check> = {}): Check {
  return { space: 'one', key, limit: TEN, cost: 1, ...more }
}

/** Plain numbers, whoever made them. */
export const numbers = (verdicts: readonly Verdict[]): unknown =>
  JSON.parse(JSON.stringify(verdicts))

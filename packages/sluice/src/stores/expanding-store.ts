// A store around a store: some checks become several, decided together in one call, and their verdicts one again.
import type { Verdict } from '../limit/verdict.ts'
import { isPromise, type Check, type MaybePromise, type Store } from './store.ts'

/** How checks become several. */
export interface Expansion {
  /** Whether a check becomes several. */
  readonly applies: (check: Check) => boolean
  /** The check itself, then those that belong to it. */
  readonly expand: (check: Check) => readonly Check[]
  /** The verdicts for the checks, from the verdicts for all that they were expanded to. */
  readonly merge: (checks: readonly Check[], verdicts: readonly Verdict[]) => readonly Verdict[]
}

/** Decides expanded checks all or none. A refund names the count that it is for, and is passed on as it is. */
export function expandingStore(store: Store, { applies, expand, merge }: Expansion): Store {
  const decided = (
    checks: readonly Check[],
    decide: (checks: readonly Check[]) => MaybePromise<readonly Verdict[]>,
  ): MaybePromise<readonly Verdict[]> => {
    if (!checks.some(applies)) return decide(checks)
    const verdicts = decide(checks.flatMap(expand))
    return isPromise(verdicts)
      ? verdicts.then((verdicts) => merge(checks, verdicts))
      : merge(checks, verdicts)
  }
  return {
    ...(store.sync === true ? { sync: true } : {}),
    take: (checks) => decided(checks, (all) => store.take(all)),
    peek: (checks) => decided(checks, (all) => store.peek(all)),
    refund: (checks) => store.refund(checks),
    reset: (checks) => store.reset(checks.flatMap(expand)),
    close: () => store.close(),
  }
}

// Takes whose answer goes through a function: stores around stores need one promise for a request, not one each.
import type { Verdict } from '../limit/verdict.ts'
import type { AsyncStore, Check, MaybePromise } from './store.ts'

/** What a store offers to a store around it. */
export interface MappedTakes {
  /**
   * `take` that resolves with what `passed` makes of the verdicts or, after an error, with what `failed` makes of it.
   * Verdicts that need no promise are returned as they are.
   */
  takeWith<T>(
    checks: readonly Check[],
    passed: (verdicts: readonly Verdict[]) => MaybePromise<T>,
    failed: (error: unknown) => MaybePromise<T>,
  ): readonly Verdict[] | Promise<T>
}

/** The mapped takes of any store. */
export function mappedTakes(store: AsyncStore): MappedTakes {
  if ('takeWith' in store) return store as unknown as MappedTakes
  return {
    takeWith(checks, passed, failed) {
      return taken(store, checks).then(passed, failed)
    },
  }
}

async function taken(store: AsyncStore, checks: readonly Check[]): Promise<readonly Verdict[]> {
  return store.take(checks)
}

export const same = <T>(value: T): T => value

export const rethrow = (error: unknown): never => {
  throw error
}

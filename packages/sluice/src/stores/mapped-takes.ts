// Takes whose answer goes through a function: stores around stores need one promise for a request, not one each.
import type { Verdict } from '../limit/verdict.ts'
import type { AsyncStore, Check, MaybePromise } from './store.ts'

/** Receives the answer to a take. An object, since two functions and what they share cost three times its memory. */
export interface TakeReceiver<T> {
  passed(verdicts: readonly Verdict[]): MaybePromise<T>
  failed(error: unknown): MaybePromise<T>
}

/** What a store offers to a store around it. */
export interface MappedTakes {
  /**
   * `take` that resolves with what the receiver makes of the verdicts or of an error. Verdicts that need no promise are
   * returned as they are.
   */
  takeWith<T>(checks: readonly Check[], receiver: TakeReceiver<T>): readonly Verdict[] | Promise<T>
}

/** The mapped takes of any store. */
export function mappedTakes(store: Pick<AsyncStore, 'take'>): MappedTakes {
  if ('takeWith' in store) return store as unknown as MappedTakes
  return {
    takeWith: (checks, receiver) => takeThrough(store, checks, receiver),
  }
}

/** Passes the answer of a store's `take` to a receiver, always by a promise. */
export function takeThrough<T>(
  store: Pick<AsyncStore, 'take'>,
  checks: readonly Check[],
  receiver: TakeReceiver<T>,
): Promise<T> {
  return taken(store, checks).then(
    (verdicts) => receiver.passed(verdicts),
    (error: unknown) => receiver.failed(error),
  )
}

async function taken(
  store: Pick<AsyncStore, 'take'>,
  checks: readonly Check[],
): Promise<readonly Verdict[]> {
  return store.take(checks)
}

/** Resolves and rejects as the take itself. */
export const AS_IT_IS: TakeReceiver<readonly Verdict[]> = {
  passed: (verdicts) => verdicts,
  failed: (error) => {
    throw error
  },
}

// A remote store for descriptors that always answers, with one failure mode for all of them.
import {
  isPromise,
  type Check,
  type MaybePromise,
  type OnStoreFailure,
  type ResilienceOptions,
  type Store,
  type Verdict,
} from 'sluice'
import { withResilience, type Environment } from 'sluice/resilience'
import { unavailable } from './domain.ts'

/** What happens while the store cannot answer. */
export interface GuardOptions extends ResilienceOptions {
  /**
   * `local` counts in this process at a share of each limit, `open` lets everything through, `closed` fails the call,
   * so that the proxy applies its own failure mode. Default `local`.
   */
  readonly onStoreFailure?: OnStoreFailure
  /** For tests: the time by which the fallback counts. */
  readonly clock?: Environment['clock']
}

/** Guards a store that answers by promises; one in this process needs no guard and is returned as it is. */
export function guardedStore(store: Store, options: GuardOptions = {}): Store {
  if (store.sync === true) return store
  const { onStoreFailure = 'local', clock, ...resilience } = options
  const guarded = withResilience(store as Parameters<typeof withResilience>[0], resilience, {
    ...(clock && { clock }),
  })
  const withMode = (checks: readonly Check[]): readonly Check[] =>
    checks.map((check) => ({ ...check, onStoreFailure }))
  return {
    take: (checks) => answered(guarded.take(withMode(checks))),
    peek: (checks) => answered(guarded.peek(withMode(checks))),
    refund: (checks) => guarded.refund(withMode(checks)),
    reset: (checks) => guarded.reset(withMode(checks)),
    close: () => guarded.close(),
  }
}

/** The verdicts; throws when the store could not answer and the mode is `closed`. */
function answered(verdicts: MaybePromise<readonly Verdict[]>): MaybePromise<readonly Verdict[]> {
  if (isPromise(verdicts)) return verdicts.then(answered)
  if (verdicts.some(({ source }) => source === 'closed')) throw unavailable()
  return verdicts
}

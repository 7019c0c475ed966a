// The store that all decisions of the service share: guarded once, so that one breaker and one fallback serve them all.
import type { RemoteStore, Store } from 'sluice'
import { withResilience, type OnEvent } from 'sluice/resilience'
import type { FailureConfig } from '../config/config.ts'

/** A store that always answers; one in this process needs no guard and is returned as it is. */
export function guardedStore(store: Store, failure: FailureConfig, onEvent: OnEvent): Store {
  if (store.sync === true) return store
  return withResilience(store as RemoteStore, { ...failure, onEvent })
}

// One resilient store for all limiters on a store: a new policy takes part in an outage that has begun, and grants no second share.
import type { RemoteStore } from '../stores/store.ts'
import type { OnEvent } from './events.ts'
import type { ResilienceOptions } from './options.ts'
import { ResilientStore } from './resilient-store.ts'

interface SharedStore {
  readonly store: ResilientStore
  listeners: readonly OnEvent[]
  users: number
}

const byStore = new WeakMap<RemoteStore, Map<string, SharedStore>>()

/** A resilient store, and what a limiter calls when it is closed. */
export interface AcquiredStore {
  readonly store: ResilientStore
  readonly release: () => void
}

/**
 * The resilient store of a store under some options, which have been checked. It is shared and lives until the last
 * limiter releases it. Every `onEvent` receives the events of the store; without any, they go to the console.
 */
export function acquireResilient(store: RemoteStore, options: ResilienceOptions): AcquiredStore {
  const { onEvent, ...others } = options
  const { timeout, fallbackShare, replicas, breaker } = others
  const name = JSON.stringify([timeout, fallbackShare, replicas, breaker])
  let byName = byStore.get(store)
  if (byName === undefined) byStore.set(store, (byName = new Map()))
  let shared = byName.get(name)
  if (shared === undefined) {
    const resilient = new ResilientStore(store, others)
    byName.set(name, (shared = { store: resilient, listeners: [], users: 0 }))
  }
  shared.users += 1
  if (onEvent !== undefined) listen(shared, [...shared.listeners, onEvent])
  let isReleased = false
  return {
    store: shared.store,
    release: () => {
      if (isReleased) return
      isReleased = true
      if (onEvent !== undefined) {
        const place = shared.listeners.indexOf(onEvent)
        listen(shared, shared.listeners.toSpliced(place, 1))
      }
      if (--shared.users > 0) return
      byName.delete(name)
      shared.store.release()
    },
  }
}

function listen(shared: SharedStore, listeners: readonly OnEvent[]): void {
  shared.listeners = listeners
  shared.store.listenWith(listeners)
}

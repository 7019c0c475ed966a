// One resilient store for all limiters on a store: a new policy takes part in an outage that has begun, and grants no second share.
import type { RemoteStore } from '../stores/store.ts'
import { notifyListener, type OnEvent } from './events.ts'
import { warnOfLostStore, type ResilienceOptions } from './options.ts'
import { ResilientStore } from './resilient-store.ts'

interface SharedStore {
  readonly store: ResilientStore
  readonly listeners: OnEvent[]
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
  const { onEvent, timeout, fallbackShare, replicas, breaker } = options
  const name = JSON.stringify([timeout, fallbackShare, replicas, breaker])
  let byName = byStore.get(store)
  if (byName === undefined) byStore.set(store, (byName = new Map()))
  let shared = byName.get(name)
  if (shared === undefined) byName.set(name, (shared = makeShared(store, options)))
  const { listeners } = shared
  shared.users += 1
  if (onEvent !== undefined) listeners.push(onEvent)
  let isReleased = false
  return {
    store: shared.store,
    release: () => {
      if (isReleased) return
      isReleased = true
      if (onEvent !== undefined) listeners.splice(listeners.indexOf(onEvent), 1)
      if (--shared.users > 0) return
      byName.delete(name)
      shared.store.release()
    },
  }
}

function makeShared(store: RemoteStore, options: ResilienceOptions): SharedStore {
  const listeners: OnEvent[] = []
  const onEvent: OnEvent = (event) => {
    if (listeners.length === 0) warnOfLostStore(event)
    for (const listener of listeners.slice()) notifyListener(listener, event)
  }
  return { store: new ResilientStore(store, { ...options, onEvent }), listeners, users: 0 }
}

// One listener for all who wait on the same signal.

/**
 * Tells when signals are aborted. A signal's listeners are a list that runtimes search from its start, so a
 * thousand listeners on one signal cost a million steps: here each signal has one.
 */
export class AbortGroups<T> {
  private readonly groups = new Map<AbortSignal, Set<T>>()
  private readonly leave: (members: ReadonlySet<T>, reason: unknown) => void

  constructor(leave: (members: ReadonlySet<T>, reason: unknown) => void) {
    this.leave = leave
  }

  add(signal: AbortSignal, member: T): void {
    const group = this.groups.get(signal)
    if (group !== undefined) {
      group.add(member)
      return
    }
    this.groups.set(signal, new Set([member]))
    signal.addEventListener('abort', this.hear)
  }

  remove(signal: AbortSignal, member: T): void {
    const group = this.groups.get(signal)
    if (group === undefined || !group.delete(member) || group.size > 0) return
    this.groups.delete(signal)
    signal.removeEventListener('abort', this.hear)
  }

  private readonly hear = (event: Event): void => {
    const signal = event.target as AbortSignal
    const group = this.groups.get(signal)
    this.groups.delete(signal)
    signal.removeEventListener('abort', this.hear)
    if (group !== undefined) this.leave(group, signal.reason)
  }
}

const listeners = new AbortGroups<() => void>((members) => {
  for (const hear of members) hear()
})

/** Calls a function once when the signal is aborted; returns what takes that back. */
export function onAbort(signal: AbortSignal | null | undefined, hear: () => void): () => void {
  if (!signal) return () => {}
  listeners.add(signal, hear)
  return () => listeners.remove(signal, hear)
}

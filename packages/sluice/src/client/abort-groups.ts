// One abort listener per signal, shared by all calls that wait on it.

/**
 * Groups the calls that wait on one signal. Runtimes search a signal's listeners linearly, so adding a thousand
 * listeners to one signal takes a million steps. Here each signal has one listener.
 */
export class AbortGroups<T> {
  private readonly groups = new Map<AbortSignal, Set<T>>()
  private readonly onAborted: (members: ReadonlySet<T>, reason: unknown) => void

  constructor(onAborted: (members: ReadonlySet<T>, reason: unknown) => void) {
    this.onAborted = onAborted
  }

  add(signal: AbortSignal, member: T): void {
    const group = this.groups.get(signal)
    if (group !== undefined) {
      group.add(member)
      return
    }
    this.groups.set(signal, new Set([member]))
    signal.addEventListener('abort', this.handleAbort)
  }

  remove(signal: AbortSignal, member: T): void {
    const group = this.groups.get(signal)
    if (group === undefined || !group.delete(member) || group.size > 0) return
    this.groups.delete(signal)
    signal.removeEventListener('abort', this.handleAbort)
  }

  private readonly handleAbort = (event: Event): void => {
    const signal = event.target as AbortSignal
    const group = this.groups.get(signal)
    this.groups.delete(signal)
    signal.removeEventListener('abort', this.handleAbort)
    if (group !== undefined) this.onAborted(group, signal.reason)
  }
}

const listeners = new AbortGroups<() => void>((members) => {
  for (const run of members) run()
})

/** Calls a function once when the signal is aborted. The returned function removes it. */
export function onAbort(signal: AbortSignal | null | undefined, run: () => void): () => void {
  if (!signal) return () => {}
  listeners.add(signal, run)
  return () => listeners.remove(signal, run)
}

// The newest entries by space and key, in a bounded memory.

/** Entries by space, then by key: joining the two for each lookup would cost more than the lookup. */
class Generation<V> {
  size = 0
  private readonly spaces = new Map<string, Map<string, V>>()
  /** Consecutive requests usually share a space. */
  private lastSpace: string | undefined
  private lastEntries: Map<string, V> | undefined

  get(space: string, key: string): V | undefined {
    return this.entriesOf(space)?.get(key)
  }

  set(space: string, key: string, value: V): void {
    let entries = this.entriesOf(space)
    if (entries === undefined) {
      entries = new Map()
      this.spaces.set(space, entries)
      this.lastEntries = entries
    }
    const before = entries.size
    entries.set(key, value)
    this.size += entries.size - before
  }

  delete(space: string, key: string): void {
    if (this.entriesOf(space)?.delete(key) === true) this.size -= 1
  }

  private entriesOf(space: string): Map<string, V> | undefined {
    if (space === this.lastSpace) return this.lastEntries
    this.lastSpace = space
    return (this.lastEntries = this.spaces.get(space))
  }
}

/**
 * Holds between half of `max` and `max` of the entries that were set last. There are two generations, and the older one
 * is dropped as a whole: removing the oldest entries of a Map one by one costs more the more have been removed.
 */
export class RecentMap<V> {
  /** Whether it has no entry. A field, since it is read for each request. */
  isEmpty = true
  private readonly half: number
  private current = new Generation<V>()
  private previous = new Generation<V>()

  constructor(max: number) {
    this.half = max / 2
  }

  get(space: string, key: string): V | undefined {
    return this.current.get(space, key) ?? this.previous.get(space, key)
  }

  set(space: string, key: string, value: V): void {
    this.isEmpty = false
    this.current.set(space, key, value)
    if (this.current.size < this.half) return
    this.previous = this.current
    this.current = new Generation()
  }

  delete(space: string, key: string): void {
    this.current.delete(space, key)
    this.previous.delete(space, key)
    this.isEmpty = this.current.size === 0 && this.previous.size === 0
  }

  clear(): void {
    this.isEmpty = true
    this.current = new Generation()
    this.previous = new Generation()
  }
}

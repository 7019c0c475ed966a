// The newest entries by space and key, in a bounded memory.

/** Entries by space, then by key: joining the two for each look would cost more than the look. */
class Generation<V> {
  size = 0
  private readonly spaces = new Map<string, Map<string, V>>()
  /** Consecutive requests usually share a space. */
  private lastSpace: string | undefined
  private last: Map<string, V> | undefined

  get(space: string, key: string): V | undefined {
    return this.of(space)?.get(key)
  }

  set(space: string, key: string, value: V): void {
    let entries = this.of(space)
    if (entries === undefined) {
      entries = new Map()
      this.spaces.set(space, entries)
      this.last = entries
    }
    const before = entries.size
    entries.set(key, value)
    this.size += entries.size - before
  }

  delete(space: string, key: string): void {
    if (this.of(space)?.delete(key) === true) this.size -= 1
  }

  private of(space: string): Map<string, V> | undefined {
    if (space === this.lastSpace) return this.last
    this.lastSpace = space
    return (this.last = this.spaces.get(space))
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
  private young = new Generation<V>()
  private old = new Generation<V>()

  constructor(max: number) {
    this.half = max / 2
  }

  get(space: string, key: string): V | undefined {
    return this.young.get(space, key) ?? this.old.get(space, key)
  }

  set(space: string, key: string, value: V): void {
    this.isEmpty = false
    this.young.set(space, key, value)
    if (this.young.size < this.half) return
    this.old = this.young
    this.young = new Generation()
  }

  delete(space: string, key: string): void {
    this.young.delete(space, key)
    this.old.delete(space, key)
    this.isEmpty = this.young.size === 0 && this.old.size === 0
  }

  clear(): void {
    this.isEmpty = true
    this.young = new Generation()
    this.old = new Generation()
  }
}

// The newest entries by name, in a bounded memory.

/**
 * Holds between half of `max` and `max` of the entries that were set last. There are two generations, and the older one
 * is dropped as a whole: removing the oldest entries of a Map one by one costs more the more have been removed.
 */
export class RecentMap<V> {
  private readonly half: number
  private young = new Map<string, V>()
  private old = new Map<string, V>()

  constructor(max: number) {
    this.half = max / 2
  }

  get isEmpty(): boolean {
    return this.young.size === 0 && this.old.size === 0
  }

  get(name: string): V | undefined {
    return this.young.get(name) ?? this.old.get(name)
  }

  set(name: string, value: V): void {
    this.young.set(name, value)
    if (this.young.size < this.half) return
    this.old = this.young
    this.young = new Map()
  }

  delete(name: string): void {
    this.young.delete(name)
    this.old.delete(name)
  }

  clear(): void {
    this.young.clear()
    this.old.clear()
  }
}

// The newest of many things by name, in a bounded memory.

/**
 * Holds between half of `most` and `most` of what was set last. Two generations, of which the older goes as a whole: to
 * take the oldest out of a Map one by one costs more the more have gone.
 */
export class Recent<V> {
  private readonly half: number
  private young = new Map<string, V>()
  private old = new Map<string, V>()

  constructor(most: number) {
    this.half = most / 2
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

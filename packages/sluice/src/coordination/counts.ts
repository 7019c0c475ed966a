// The counts of a process that it decides by itself, by space and key.

/** Where a count lives. */
interface Place {
  readonly space: string
  readonly key: string
}

/** A bounded set of counts. */
export class Counts<C extends Place> implements Iterable<C> {
  private readonly max: number
  private readonly spaces = new Map<string, Map<string, C>>()
  /** Consecutive requests usually share a space. */
  private lastSpace: string | undefined
  private lastKeys: Map<string, C> | undefined
  size = 0

  constructor(max: number) {
    this.max = max
  }

  find({ space, key }: Place): C | undefined {
    return this.get(space, key)
  }

  get(space: string, key: string): C | undefined {
    if (space !== this.lastSpace) {
      this.lastSpace = space
      this.lastKeys = this.spaces.get(space)
    }
    return this.lastKeys?.get(key)
  }

  /** Adds a count, in place of one with the same name. Undefined when there is no room. */
  add(count: C): C | undefined {
    const { space, key } = count
    let keys = this.spaces.get(space)
    const isNew = keys?.has(key) !== true
    if (isNew && this.size >= this.max) return undefined
    if (keys === undefined) this.spaces.set(space, (keys = new Map()))
    keys.set(key, count)
    this.lastSpace = undefined
    if (isNew) this.size += 1
    return count
  }

  delete({ space, key }: Place): void {
    const keys = this.spaces.get(space)
    if (keys?.delete(key) !== true) return
    this.size -= 1
    if (keys.size === 0) this.spaces.delete(space)
    this.lastSpace = undefined
  }

  clear(): void {
    this.spaces.clear()
    this.lastSpace = undefined
    this.size = 0
  }

  *[Symbol.iterator](): Iterator<C> {
    for (const keys of this.spaces.values()) yield* keys.values()
  }
}

// The keys that a table found lately, as the strings they were: a hot key is found without reading its text.

/** A power of two. Few, because a string that is a slice of a header keeps the header alive. */
const PLACES = 32

/** A few keys with their slots, the newest at each place. */
export class RecentKeys {
  /** Never undefined: V8 compares two strings faster than anything with a string. */
  private readonly keys: string[] = new Array<string>(PLACES).fill('')
  private readonly slots: Int32Array = new Int32Array(PLACES).fill(-1)

  /** The slot of a key, -1 when it is not among them. */
  find(key: string): number {
    const place = placeOf(key)
    return key === this.keys[place] ? this.slots[place]! : -1
  }

  add(key: string, slot: number): void {
    const place = placeOf(key)
    this.keys[place] = key
    this.slots[place] = slot
  }

  /** Forgets a slot, which is about to have another key. */
  remove(slot: number): void {
    const place = this.slots.indexOf(slot)
    if (place >= 0) this.slots[place] = -1
  }

  clear(): void {
    this.keys.fill('')
    this.slots.fill(-1)
  }
}

/** A number from two characters: an uneven spread costs little. */
function placeOf(key: string): number {
  const end = key.length - 1
  if (end < 1) return 0
  return (key.charCodeAt(end) ^ (key.charCodeAt(end - 1) << 1)) & (PLACES - 1)
}

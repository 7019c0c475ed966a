// The heaviest keys of a stream in constant memory, with a bound on the error of each count.
import { ownText } from './keys.ts'

/**
 * A key and its count. When everything was looked at, the true count is at most `count` and at least `count - error`. Of a
 * sample, both bounds hold within {@link spreadOf} the entry.
 */
export interface TopEntry<T> {
  readonly key: string
  readonly count: number
  readonly error: number
  /** The variance that sampling adds to the count: 0 when everything was looked at. */
  readonly variance: number
  /** What the key identifies. */
  readonly about: T
}

/** The heaviest keys at one moment. A key that is not listed has a count of at most `floor`. */
export interface TopKeys<T> {
  readonly entries: readonly TopEntry<T>[]
  readonly floor: number
}

/** Three standard deviations of a sampled count: the bounds are this much wider, 997 times in 1,000. */
export function spreadOf({ variance }: Pick<TopEntry<unknown>, 'variance'>): number {
  return Math.ceil(3 * Math.sqrt(variance))
}

interface Entry<T> {
  key: string
  count: number
  error: number
  variance: number
  about: T
}

/**
 * Space-Saving (Metwally, Agrawal, El Abbadi, 2005): when all places are taken, a new key takes the place of the
 * lightest and inherits its count as its possible error. With k places every key that has more than 1/k of the total
 * is listed, and no error is above 1/k of the total.
 */
export class SpaceSaving<T, From = T> {
  private readonly places: number
  private readonly describe: (from: From) => T
  private readonly byKey = new Map<string, Entry<T>>()
  private entries: Entry<T>[] = []
  /** The least count at the last full look; entries that still have it are found by going round. */
  private least = 0
  private cursor = 0
  /** The most that a key may have which was forgotten by {@link keepHeaviest}. */
  private forgotten = 0

  /** `describe` makes what a key stands for; it is called only for a key that is not listed yet. */
  constructor(places: number, describe: (from: From) => T) {
    this.places = places
    this.describe = describe
  }

  get isEmpty(): boolean {
    return this.entries.length === 0
  }

  /** Adds `units` to a key, `weight` times: so many requests stand behind a sampled one. */
  add(key: string, units: number, from: From, weight = 1): void {
    let entry = this.byKey.get(key)
    if (entry === undefined) {
      // A part of a longer text would keep all of it alive.
      const own = ownText(key)
      const about = this.describe(from)
      if (this.entries.length < this.places) {
        entry = { key: own, count: 0, error: 0, variance: 0, about }
        this.entries.push(entry)
      } else {
        entry = this.lightest()
        this.byKey.delete(entry.key)
        entry.key = own
        entry.about = about
        entry.error = entry.count
      }
      this.byKey.set(own, entry)
    }
    entry.count += units * weight
    // One in `weight` is taken, each by chance.
    entry.variance += units * units * weight * (weight - 1)
  }

  /** What is known of a listed key. */
  get(key: string): TopEntry<T> | undefined {
    return this.byKey.get(key)
  }

  /** Forgets all but the heaviest, of a stream that has ended; the floor covers the others. */
  keepHeaviest(most: number): void {
    const sorted = this.entries.toSorted((a, b) => b.count - a.count)
    this.forgotten = this.top(most).floor
    for (const { key } of sorted.slice(most)) this.byKey.delete(key)
    this.entries = sorted.slice(0, most)
  }

  /** The heaviest keys, heaviest first. */
  top(most: number = this.places): TopKeys<T> {
    const sorted = this.entries.toSorted((a, b) => b.count - a.count)
    const isFull = this.entries.length >= this.places
    const least = sorted[most]?.count ?? (isFull ? (sorted.at(-1)?.count ?? 0) : 0)
    const floor = Math.max(least, this.forgotten)
    return { entries: sorted.slice(0, most).map((entry) => ({ ...entry })), floor }
  }

  /** Among many light keys most places have the least count, so the next one is near. */
  private lightest(): Entry<T> {
    const { entries, places } = this
    for (let looks = 0; looks < places; looks++) {
      const entry = entries[this.cursor]!
      this.cursor = (this.cursor + 1) % places
      if (entry.count <= this.least) return entry
    }
    let found = entries[0]!
    for (const entry of entries) if (entry.count < found.count) found = entry
    this.least = found.count
    return found
  }
}

/** The heaviest keys of several streams together; the bounds stay true for their union. */
export function mergeTops<T>(tops: readonly TopKeys<T>[], most: number): TopKeys<T> {
  const sums = new Map<string, Omit<Entry<T>, 'key'> & { floors: number }>()
  const allFloors = tops.reduce((sum, { floor }) => sum + floor, 0)
  for (const { entries, floor } of tops) {
    for (const { key, count, error, variance, about } of entries) {
      const sum = sums.get(key) ?? { count: 0, error: 0, variance: 0, about, floors: 0 }
      sum.count += count
      sum.error += error
      sum.variance += variance
      sum.floors += floor
      sums.set(key, sum)
    }
  }
  const entries = [...sums]
    .map(([key, { count, error, variance, about, floors }]) => {
      // A stream that does not list the key may still have seen it as often as its floor.
      const unseen = allFloors - floors
      return { key, about, count: count + unseen, error: error + unseen, variance }
    })
    .toSorted((a, b) => b.count - a.count)
  return { entries: entries.slice(0, most), floor: Math.max(allFloors, entries[most]?.count ?? 0) }
}

// Puts the requests of a log into the order of time, within a window of bounded length and size.
import type { Millis } from 'sluice'

/** Receives a request in the order of time; `client` is its number. */
export type OnRequest<T> = (at: Millis, client: number, item: T | undefined) => void

/** The requests of one second, in the order of the log. */
interface Bucket<T> {
  readonly second: number
  readonly at: Millis[]
  readonly clients: number[]
  readonly items: (T | undefined)[]
  isSorted: boolean
}

/** How requests are put in order. */
export interface ReorderOptions {
  /** How far behind the newest a line may be and still find its place. */
  readonly window: Millis
  /** The most requests that are held back. */
  readonly maxHeld: number
}

/**
 * Holds requests back until no earlier one can follow within the window. Requests of one instant keep the order of the
 * log. One that comes too late is handed on at once, at the instant that has been reached: time never goes back.
 */
export class Reorder<T> {
  /** Requests that came after later ones had been handed on, which happens only when too many are held. */
  late = 0
  /** Whether requests were handed on early because too many were held. */
  isFull = false
  held = 0
  private released = -Infinity
  private readonly options: ReorderOptions
  private readonly onRequest: OnRequest<T>
  private buckets: Bucket<T>[] = []
  private first = 0
  private last: Bucket<T> | undefined

  constructor(options: ReorderOptions, onRequest: OnRequest<T>) {
    this.options = options
    this.onRequest = onRequest
  }

  push(at: Millis, client: number, item?: T): void {
    const second = Math.floor(at / 1000)
    if (second < this.floor()) {
      this.late++
      this.released = Math.max(at, this.released)
      this.onRequest(this.released, client, item)
      return
    }
    const bucket = this.last?.second === second ? this.last : this.bucketOf(second)
    this.last = bucket
    const { length } = bucket.at
    if (length > 0 && at < (bucket.at[length - 1] as number)) bucket.isSorted = false
    bucket.at.push(at)
    bucket.clients.push(client)
    if (item !== undefined) bucket.items.push(item)
    this.held++
    while (this.held > this.options.maxHeld && this.buckets.length - this.first > 1) {
      this.isFull = true
      this.release()
    }
  }

  /** Hands on everything that no line can precede any more, given the newest instant of the slowest log. */
  advance(newest: Millis): void {
    const end = Math.floor((newest - this.options.window) / 1000)
    while (this.first < this.buckets.length && this.buckets[this.first]!.second < end)
      this.release()
  }

  /** Hands on everything. */
  flush(): void {
    while (this.first < this.buckets.length) this.release()
  }

  /** The second whose requests, and those of later ones, are still held. */
  private floor(): number {
    return this.released === -Infinity ? -Infinity : Math.floor(this.released / 1000) + 1
  }

  private bucketOf(second: number): Bucket<T> {
    const { buckets } = this
    let low = this.first
    let high = buckets.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (buckets[middle]!.second < second) low = middle + 1
      else high = middle
    }
    const found = buckets[low]
    if (found?.second === second) return found
    const bucket: Bucket<T> = { second, at: [], clients: [], items: [], isSorted: true }
    buckets.splice(low, 0, bucket)
    return bucket
  }

  private release(): void {
    const bucket = this.buckets[this.first++] as Bucket<T>
    // Not one by one, which would move all others each time.
    if (this.first > 256 && this.first * 2 > this.buckets.length) {
      this.buckets = this.buckets.slice(this.first)
      this.first = 0
    }
    if (this.last === bucket) this.last = undefined
    const { at, clients, items } = bucket
    this.held -= at.length
    if (bucket.isSorted) {
      for (let i = 0; i < at.length; i++) this.onRequest(at[i]!, clients[i]!, items[i])
      this.released = Math.max(this.released, at.at(-1)!)
    } else {
      const order = at.map((_, i) => i).toSorted((a, b) => at[a]! - at[b]!)
      for (const i of order) this.onRequest(at[i]!, clients[i]!, items[i])
      this.released = Math.max(this.released, at[order.at(-1)!]!)
    }
  }
}

// The reader of the merged record: how much of a bucket any span of time has used. Shares no code with the library.
import type { Recorded } from './record.ts'

/** The numbers of a bucket. Any span of length T may admit `burst + rate * T`. */
export interface Bucket {
  readonly burst: number
  /** Units per millisecond. */
  readonly rate: number
}

/** The span that admitted the most above `rate * T`. The bound holds when `units` is at most the burst. */
export interface WorstSpan {
  readonly units: number
  readonly from: number
  readonly to: number
}

/** The worst span of a record, each key by itself. */
export function worstSpan(rate: number, record: readonly Recorded[]): WorstSpan {
  const byKey = new Map<number, Recorded[]>()
  for (const one of record) {
    const same = byKey.get(one.key)
    if (same === undefined) byKey.set(one.key, [one])
    else same.push(one)
  }
  let worst: WorstSpan = { units: 0, from: 0, to: 0 }
  for (const same of byKey.values()) {
    const found = worstOfKey(rate, same)
    if (found.units > worst.units) worst = found
  }
  return worst
}

/**
 * A request is decided at some instant between its `earliest` and its `latest`, so it lies in a span for certain if both
 * do. The largest count - rate * T over all spans is found in one pass over the ends of spans, in ascending order: a
 * tree keeps, for every beginning at once, how many of the requests seen so far lie after it. For requests whose
 * instants are exact this is the level of a leaking bucket.
 */
function worstOfKey(rate: number, record: readonly Recorded[]): WorstSpan {
  const begins = record.map(({ earliest }) => earliest).toSorted((a, b) => a - b)
  const origin = begins[0] ?? 0
  const tree = new MaxTree(begins.map((begin) => rate * (begin - origin)))
  let worst: WorstSpan = { units: 0, from: 0, to: 0 }
  for (const { earliest, latest } of record.toSorted((a, b) => a.latest - b.latest)) {
    tree.addUpTo(lastAtMost(begins, earliest))
    const { value, place } = tree.maxUpTo(lastAtMost(begins, latest))
    const units = value - rate * (latest - origin)
    if (units > worst.units) worst = { units, from: begins[place]!, to: latest }
  }
  return worst
}

function lastAtMost(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (sorted[middle]! <= value) low = middle
    else high = middle - 1
  }
  return low
}

/** Numbers of which all up to some place are raised by 1, and the maximum of those up to some place. */
class MaxTree {
  private readonly leaves: number
  /** The maximum below each node, without what was added above it. */
  private readonly highest: Float64Array
  private readonly added: Float64Array

  constructor(values: readonly number[]) {
    this.leaves = 2 ** Math.ceil(Math.log2(Math.max(1, values.length)))
    this.highest = new Float64Array(2 * this.leaves).fill(-Infinity)
    this.added = new Float64Array(2 * this.leaves)
    this.highest.set(values, this.leaves)
    for (let node = this.leaves - 1; node >= 1; node--) this.update(node)
  }

  /** Raises the numbers at the places from 0 to `last`. */
  addUpTo(last: number): void {
    let node = this.leaves + last
    this.raise(node)
    while (node > 1) {
      if (node % 2 === 1) this.raise(node - 1)
      node = Math.floor(node / 2)
      this.update(node)
    }
  }

  /** The greatest of the numbers at the places from 0 to `last`, and where it is. */
  maxUpTo(last: number): { readonly value: number; readonly place: number } {
    let node = this.leaves + last
    let [value, found] = [this.highest[node]!, node]
    while (node > 1) {
      const left = node - 1
      if (node % 2 === 1 && this.highest[left]! > value)
        [value, found] = [this.highest[left]!, left]
      node = Math.floor(node / 2)
      value += this.added[node]!
    }
    while (found < this.leaves)
      found = this.highest[2 * found]! >= this.highest[2 * found + 1]! ? 2 * found : 2 * found + 1
    return { value, place: found - this.leaves }
  }

  private raise(node: number): void {
    this.highest[node]! += 1
    this.added[node]! += 1
  }

  private update(node: number): void {
    const below = Math.max(this.highest[2 * node]!, this.highest[2 * node + 1]!)
    this.highest[node] = below + this.added[node]!
  }
}

/** How many of the requests one bucket admits that decides each of them when it is sent. */
export function admittedByOne({ burst, rate }: Bucket, sent: readonly Recorded[]): number {
  const levels = new Map<number, { level: number; at: number }>()
  let admitted = 0
  for (const { key, earliest } of sent.toSorted((a, b) => a.earliest - b.earliest)) {
    const bucket = levels.get(key) ?? { level: 0, at: earliest }
    bucket.level = Math.max(0, bucket.level - rate * (earliest - bucket.at))
    bucket.at = earliest
    levels.set(key, bucket)
    if (bucket.level + 1 > burst) continue
    bucket.level += 1
    admitted += 1
  }
  return admitted
}

// When keys were requested recently: one mark for each, so that nothing is kept of keys with a single request.
import type { Millis } from '../time/clock.ts'

/** Marks of a process. Keys may share one, so a key may be taken for another that was asked for lately. */
const MARKS = 131_072
/** What leaves as many upper bits of a hash as name a mark. */
const OTHER_SHIFT = 32 - Math.log2(MARKS)
/** Characters of a key that are looked at, from its beginning and from its end. */
const LOOKED_AT = 32

/** Remembers keys for a while, in a fixed amount of memory. */
export class SeenKeys {
  private readonly within: Millis
  /** By mark: a part of the hash of the key that set it last, and when. */
  private readonly hashes = new Int32Array(MARKS)
  private readonly times = new Float64Array(MARKS).fill(-Infinity)

  constructor(within: Millis) {
    this.within = within
  }

  /** Notes a request for a key. Returns when the previous one was, if that is recent, else undefined. */
  note(key: string, now: number): number | undefined {
    const hash = hashOf(key)
    const mark = this.markOf(hash)
    const last = this.times[mark]!
    const isRecent = this.hashes[mark] === hash && now - last < this.within
    this.hashes[mark] = hash
    this.times[mark] = now
    return isRecent ? last : undefined
  }

  /** Its mark, or the older one of two: keys that share one would else erase each other for ever. */
  private markOf(hash: number): number {
    const one = hash & (MARKS - 1)
    const other = Math.imul(hash, 0x9e3779b1) >>> OTHER_SHIFT
    if (this.hashes[one] === hash) return one
    if (this.hashes[other] === hash) return other
    return this.times[one]! <= this.times[other]! ? one : other
  }
}

function hashOf(key: string): number {
  const { length } = key
  let hash = length
  for (let i = Math.min(length, LOOKED_AT) - 1; i >= 0; i--)
    hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  for (let i = Math.max(LOOKED_AT, length - LOOKED_AT); i < length; i++)
    hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return hash ^ (hash >>> 15)
}

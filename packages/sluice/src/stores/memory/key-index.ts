// From a key to its slot: open addressing by hash, in segments that split one at a time, so that growing never stalls.
//
// The upper bits of a hash choose the segment, bits 7 to 18 the place in it. An entry is a slot's number with the lowest
// bits of the hash in front, which nearly always tell that a slot holds another key without a look at it.
import { KeyText } from './key-text.ts'

const MAX_SEGMENT = 4096
const MIN_SEGMENT = 64
/** Bits of a hash that may choose a segment. */
const MAX_DEPTH = 13

const EMPTY = 0
const REMOVED = 1
const FIRST = 2
const SLOT_BITS = 24
const SLOT = (1 << SLOT_BITS) - 1

/** The most slots that an index can name. */
export const MAX_SLOTS: number = SLOT - FIRST

/** Keys that are kept as strings, a power of two. Few, because a slice of a header keeps the header alive. */
const RECENT = 32
/** A power of two above it: with more places, few slots of recent keys meet at one. */
const PLACES = 256

/** What an index asks of the slots. */
export interface Hashed {
  /** Whether a slot holds the key that was read last. */
  holdsRead(slot: number): boolean
  /** The hash of the key in a slot; its lowest seven bits may be any. */
  hashAt(slot: number): number
}

/** The slots of all keys of one table. A slot of -1 stands for none. */
export class KeyIndex {
  /** The key that was read last. */
  readonly text: KeyText = new KeyText()
  private readonly slots: Hashed
  private depth = 0
  private directory: Segment[] = [new Segment(MIN_SEGMENT, 0)]
  /** The keys found lately, the newest at each place, with their slots: a hot key is found without reading its text. */
  private readonly recentKeys: string[] = new Array<string>(RECENT).fill('')
  private readonly recentSlots: Int32Array = new Int32Array(RECENT).fill(-1)
  /** The place of each of these slots, by its last bits, of which no two have the same. */
  private readonly recentPlaces = new Uint8Array(PLACES)
  /** Where among them the last search began. */
  private recent = 0

  constructor(slots: Hashed) {
    this.slots = slots
  }

  /** The slot of a key. */
  find(key: string): number {
    const known = this.recall(key)
    return known >= 0 ? known : this.confirm(this.likely())
  }

  /** The slot of a key that was found lately. The text of another is read, for {@link likely} and {@link confirm}. */
  recall(key: string): number {
    const end = key.length - 1
    // From two characters, which spread well if they are digits.
    const place = end < 1 ? 0 : (key.charCodeAt(end) + 10 * key.charCodeAt(end - 1)) & (RECENT - 1)
    const known = key === this.recentKeys[place] ? this.recentSlots[place]! : -1
    if (known >= 0) return known
    this.recent = place
    this.text.read(key)
    return -1
  }

  /** The first slot that may hold the key that was read last, or the next one behind `after`. */
  likely(after = -1): number {
    const { hash } = this.text
    const { entries } = this.segmentFor(hash)
    const mask = entries.length - 1
    const tag = hash & 0xff
    let isBehind = after < 0
    for (let i = (hash >>> 7) & mask; ; i = (i + 1) & mask) {
      const entry = entries[i]!
      if (entry === EMPTY) return -1
      if (entry >>> SLOT_BITS !== tag) continue
      const slot = (entry & SLOT) - FIRST
      if (slot < 0) continue
      if (isBehind) return slot
      isBehind = slot === after
    }
  }

  /** The slot that holds the key that was read last; `likely` is looked at first. */
  confirm(likely: number): number {
    let slot = likely
    while (slot >= 0 && !this.slots.holdsRead(slot)) slot = this.likely(slot)
    if (slot >= 0) this.remember(slot)
    return slot
  }

  /** Adds a slot for the key that was read last, which has none. */
  add(slot: number): void {
    const { hash } = this.text
    let segment = this.segmentFor(hash)
    while (segment.taken >= segment.limit) {
      this.makeRoom(segment, hash)
      segment = this.segmentFor(hash)
    }
    segment.add(hash, ((hash & 0xff) << SLOT_BITS) | (slot + FIRST))
  }

  /** Removes a slot, of whose key this is the hash. */
  remove(hash: number, slot: number): void {
    const segment = this.segmentFor(hash)
    segment.remove(hash, slot)
    const recent = this.recentPlaces[slot & (PLACES - 1)]!
    if (this.recentSlots[recent] === slot) this.recentSlots[recent] = -1
    // Memory comes back when a segment is nearly empty; segments themselves stay.
    const { length } = segment.entries
    if (length > MIN_SEGMENT && segment.live * 8 < length) this.rebuild(segment, hash, length / 4)
  }

  /** Gives memory back when no slot is left. */
  clear(): void {
    if (this.depth === 0) return
    this.depth = 0
    this.directory = [new Segment(MIN_SEGMENT, 0)]
  }

  /** Keeps the key that was read last, which this slot holds, among the recent ones. */
  private remember(slot: number): void {
    const { recent, recentSlots, recentPlaces } = this
    const bits = slot & (PLACES - 1)
    const other = recentPlaces[bits]!
    if ((recentSlots[other]! & (PLACES - 1)) === bits) recentSlots[other] = -1
    this.recentKeys[recent] = this.text.key
    recentSlots[recent] = slot
    recentPlaces[bits] = recent
  }

  private segmentFor(hash: number): Segment {
    return this.directory[(hash >>> 1) >>> (31 - this.depth)]!
  }

  private makeRoom(segment: Segment, hash: number): void {
    const { entries, depth } = segment
    const { length } = entries
    if (segment.live * 4 < segment.limit * 3) return this.rebuild(segment, hash, length)
    if (length < MAX_SEGMENT || depth === MAX_DEPTH) return this.rebuild(segment, hash, 2 * length)
    if (depth === this.depth) {
      this.directory = this.directory.flatMap((one) => [one, one])
      this.depth += 1
    }
    this.replace(segment, hash, [new Segment(length, depth + 1), new Segment(length, depth + 1)])
  }

  /** Puts the entries of a segment into one of so many places. */
  private rebuild(segment: Segment, hash: number, length: number): void {
    this.replace(segment, hash, [new Segment(Math.max(MIN_SEGMENT, length), segment.depth)])
  }

  /** Puts the entries of a segment, which is that of a hash, into one or two others, which take its place. */
  private replace(segment: Segment, hash: number, heirs: readonly Segment[]): void {
    const { depth } = segment
    for (const entry of segment.entries) {
      const slot = (entry & SLOT) - FIRST
      if (slot < 0) continue
      const own = this.slots.hashAt(slot)
      heirs[(own >>> (31 - depth)) & (heirs.length - 1)]!.add(own, entry)
    }
    const places = 2 ** (this.depth - depth)
    const share = places / heirs.length
    let from = ((hash >>> 1) >>> (31 - depth)) * places
    for (const heir of heirs) this.directory.fill(heir, from, (from += share))
  }
}

/** The entries of hashes that have their upper bits in common. */
class Segment {
  readonly entries: Int32Array
  /** How many upper bits they have in common. */
  readonly depth: number
  /** Entries that are not EMPTY, at most. */
  readonly limit: number
  /** Entries that are not EMPTY, and those among them that are not REMOVED. */
  taken = 0
  live = 0

  constructor(length: number, depth: number) {
    this.entries = new Int32Array(length)
    this.depth = depth
    // At least a quarter stays empty, so that searches end soon. The share is random: hashes fill all segments alike, and
    // they would all split within a few requests.
    this.limit = Math.floor(length * (0.5 + Math.random() / 4))
  }

  /** Puts an entry, whose slot is not there, into the first place that is free. */
  add(hash: number, entry: number): void {
    const { entries } = this
    const mask = entries.length - 1
    let i = (hash >>> 7) & mask
    while ((entries[i]! & SLOT) >= FIRST) i = (i + 1) & mask
    if (entries[i] === EMPTY) this.taken += 1
    entries[i] = entry
    this.live += 1
  }

  /** Removes the entry of a slot. */
  remove(hash: number, slot: number): void {
    const { entries } = this
    const mask = entries.length - 1
    let i = (hash >>> 7) & mask
    while ((entries[i]! & SLOT) !== slot + FIRST) i = (i + 1) & mask
    this.live -= 1
    entries[i] = REMOVED
    if (entries[(i + 1) & mask] !== EMPTY) return
    // No search has to go on beyond the last entry before an empty place.
    for (; entries[i] === REMOVED; i = (i - 1) & mask) {
      entries[i] = EMPTY
      this.taken -= 1
    }
  }
}

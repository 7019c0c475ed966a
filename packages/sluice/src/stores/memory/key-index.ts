// From a hash to a slot: open addressing in segments that split one at a time, so that growing never stalls.
//
// The upper bits of a hash choose the segment, bits 7 to 18 the place in it. An entry is a slot's number with the lowest
// bits of the hash in front, which nearly always tell that a slot holds another key without a look at it.
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

/** What an index asks of the slots. */
export interface Hashed {
  /** Whether a slot holds the key that was read last. */
  holdsRead(slot: number): boolean
  /** The hash of the key in a slot; its lowest seven bits may be any. */
  hashAt(slot: number): number
}

interface Segment {
  entries: Int32Array
  /** Entries that are not EMPTY, and those among them that are not REMOVED. */
  taken: number
  live: number
  /** Entries that are not EMPTY, at most. */
  limit: number
  /** Upper bits that all hashes in it have in common. */
  depth: number
}

/** The slots of all keys of one table, by hash. */
export class KeyIndex {
  private readonly slots: Hashed
  private depth = 0
  private directory: Segment[] = [segmentOf(MIN_SEGMENT, 0)]

  constructor(slots: Hashed) {
    this.slots = slots
  }

  /** The slot of the key that was read last, whose hash this is; -1 when there is none. */
  find(hash: number): number {
    const { entries } = this.segmentFor(hash)
    const mask = entries.length - 1
    const tag = hash & 0xff
    for (let i = (hash >>> 7) & mask; ; i = (i + 1) & mask) {
      const entry = entries[i]!
      if (entry === EMPTY) return -1
      if (entry >>> SLOT_BITS !== tag) continue
      const slot = (entry & SLOT) - FIRST
      if (slot >= 0 && this.slots.holdsRead(slot)) return slot
    }
  }

  /** The slot that a search for this hash looks at first; -1 when it looks at none. */
  likely(hash: number): number {
    const { entries } = this.segmentFor(hash)
    const mask = entries.length - 1
    const tag = hash & 0xff
    for (let i = (hash >>> 7) & mask; ; i = (i + 1) & mask) {
      const entry = entries[i]!
      if (entry === EMPTY) return -1
      if (entry >>> SLOT_BITS === tag && (entry & SLOT) >= FIRST) return (entry & SLOT) - FIRST
    }
  }

  /** Adds a slot whose key is in no other. */
  add(hash: number, slot: number): void {
    let segment = this.segmentFor(hash)
    while (segment.taken >= segment.limit) {
      this.makeRoom(segment, hash)
      segment = this.segmentFor(hash)
    }
    place(segment, hash, ((hash & 0xff) << SLOT_BITS) | (slot + FIRST))
  }

  remove(hash: number, slot: number): void {
    const segment = this.segmentFor(hash)
    const { entries } = segment
    const mask = entries.length - 1
    let i = (hash >>> 7) & mask
    while ((entries[i]! & SLOT) !== slot + FIRST) i = (i + 1) & mask
    segment.live -= 1
    if (entries[(i + 1) & mask] === EMPTY) {
      entries[i] = EMPTY
      segment.taken -= 1
    } else entries[i] = REMOVED
    // Memory comes back when a segment is nearly empty; segments themselves stay.
    const { length } = entries
    if (length > MIN_SEGMENT && segment.live * 8 < length) this.rebuild(segment, length / 4)
  }

  private segmentFor(hash: number): Segment {
    return this.directory[(hash >>> 1) >>> (31 - this.depth)]!
  }

  private makeRoom(segment: Segment, hash: number): void {
    const { length } = segment.entries
    if (segment.live * 4 < segment.limit * 3) return this.rebuild(segment, length)
    if (length < MAX_SEGMENT || segment.depth === MAX_DEPTH)
      return this.rebuild(segment, 2 * length)
    this.split(segment, hash)
  }

  /** Puts the entries into a segment of so many places. */
  private rebuild(segment: Segment, length: number): void {
    const { entries } = segment
    segment.entries = new Int32Array(Math.max(MIN_SEGMENT, length))
    segment.limit = limitFor(segment.entries.length)
    segment.taken = 0
    segment.live = 0
    for (const entry of entries) {
      const slot = (entry & SLOT) - FIRST
      if (slot >= 0) place(segment, this.slots.hashAt(slot), entry)
    }
  }

  /** Makes two segments of one. */
  private split(segment: Segment, hash: number): void {
    if (segment.depth === this.depth) {
      this.directory = this.directory.flatMap((one) => [one, one])
      this.depth += 1
    }
    const depth = segment.depth + 1
    const halves = [
      segmentOf(segment.entries.length, depth),
      segmentOf(segment.entries.length, depth),
    ] as const
    for (const entry of segment.entries) {
      const slot = (entry & SLOT) - FIRST
      if (slot < 0) continue
      const own = this.slots.hashAt(slot)
      place(halves[(own >>> (32 - depth)) & 1]!, own, entry)
    }
    const shares = 2 ** (this.depth - depth)
    const first = ((hash >>> 1) >>> (31 - segment.depth)) * 2 * shares
    this.directory.fill(halves[0], first, first + shares)
    this.directory.fill(halves[1], first + shares, first + 2 * shares)
  }
}

function segmentOf(length: number, depth: number): Segment {
  return { entries: new Int32Array(length), taken: 0, live: 0, limit: limitFor(length), depth }
}

/**
 * At least a quarter stays empty, so that searches end soon. The share is random: hashes fill all segments alike, and
 * they would all split within a few requests.
 */
function limitFor(length: number): number {
  return Math.floor(length * (0.5 + Math.random() / 4))
}

/** Puts an entry into the first empty place. */
function place(segment: Segment, hash: number, entry: number): void {
  const { entries } = segment
  const mask = entries.length - 1
  let i = (hash >>> 7) & mask
  while (entries[i]! !== EMPTY) i = (i + 1) & mask
  entries[i] = entry
  segment.taken += 1
  segment.live += 1
}

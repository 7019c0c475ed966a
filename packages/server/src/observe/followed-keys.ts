// Keys that are followed one by one, in constant memory: those that have nothing left, and some by how long they were not used.
import type { Millis } from 'sluice'
import { hash32, keptKey, ownText, type NamedKey } from './keys.ts'

/** Keys at zero that are followed at once. */
const MAX_KEYS = 64
/** Slots by hash: for most keys, one look shows that they are not followed. */
const SLOTS = 2048
const SLOT_MASK = SLOTS - 1
/** A key that was free for no longer than this between two requests counts as never free: waits are rounded up to seconds. */
const SLACK: Millis = 5000

const AGE_BITS = 10
const AGE_SLOTS = 1 << AGE_BITS
/** If this many keys lost their slot since the last turn, too many are followed. */
const CROWDED = AGE_SLOTS / 4

/** A key without units, and since when. */
export interface KeyAtZero {
  readonly key: string
  readonly about: NamedKey
  readonly since: Millis
}

interface Followed {
  /** Where its hash is counted. */
  readonly slot: number
  readonly about: NamedKey
  readonly since: Millis
  /** When its next unit comes free, by the last answer. */
  freeAt: Millis
}

/** Follows keys that have nothing left: customers that a limit shuts out, or clients in a retry loop. */
export class KeysAtZero {
  private readonly keys = new Map<string, Followed>()
  /** How many followed keys have a hash that ends so. */
  private readonly slots = new Uint8Array(SLOTS)
  /** When a full list was last searched for keys that have come free. */
  private lookedAt: Millis = -1

  /** The key had nothing left at `now`, and gets its next unit after `availableAfter`. */
  note(key: string, now: Millis, availableAfter: Millis, describe: () => NamedKey): void {
    const kept = keptKey(key)
    const known = this.keys.get(kept)
    if (known !== undefined && now <= known.freeAt + SLACK) {
      known.freeAt = now + availableAfter
      return
    }
    if (known === undefined && this.keys.size >= MAX_KEYS && !this.forgetFree(now)) return
    const slot = hash32(key) & SLOT_MASK
    if (known === undefined) this.slots[slot]! += 1
    this.keys.set(ownText(kept), {
      slot,
      about: describe(),
      since: now,
      freeAt: now + availableAfter,
    })
  }

  /** Whether a key is followed. Called for every decision: for most keys the hash alone decides. */
  has(key: string, hash: number): boolean {
    return this.slots[hash & SLOT_MASK] !== 0 && this.keys.has(keptKey(key))
  }

  /** The key had units. */
  clear(key: string): void {
    this.forget(keptKey(key))
  }

  /** Keys at zero for longer than a time, longest first. */
  list(now: Millis, longerThan: Millis): readonly KeyAtZero[] {
    const all: KeyAtZero[] = []
    for (const [key, { about, since, freeAt }] of this.keys)
      if (now <= freeAt + SLACK && now - since >= longerThan) all.push({ key, about, since })
    return all.toSorted((a, b) => a.since - b.since)
  }

  /** Forgets keys that have come free; returns whether there is room. */
  private forgetFree(now: Millis): boolean {
    if (now === this.lookedAt) return false
    this.lookedAt = now
    for (const [key, { freeAt }] of this.keys) if (now > freeAt + SLACK) this.forget(key)
    return this.keys.size < MAX_KEYS
  }

  private forget(kept: string): void {
    const known = this.keys.get(kept)
    if (known === undefined) return
    this.keys.delete(kept)
    this.slots[known.slot]! -= 1
  }
}

/** Knows how long ago a key was last used: follows all keys while they are few, and a part of them, chosen by their hash, when they are many. */
export class KeyAges {
  private readonly hashes = new Uint32Array(AGE_SLOTS)
  private readonly instants = new Float64Array(AGE_SLOTS)
  /** Keys with any of these bits in their hash are not followed; each request of the others has to be noted. */
  mask = 0
  private lost = 0

  /** Milliseconds since a followed key was last used; -1 if that is not known. */
  note(hash: number, at: Millis): Millis {
    // The bits of the mask are the lowest, those of the slot the highest.
    const slot = hash >>> (32 - AGE_BITS)
    const last = this.instants[slot]!
    this.instants[slot] = at
    if (this.hashes[slot] === hash && last !== 0) return at > last ? at - last : 0
    this.hashes[slot] = hash
    if (last !== 0) this.lost += 1
    if (this.lost > CROWDED) {
      this.mask = Math.min(2 * this.mask + 1, AGE_SLOTS - 1)
      this.lost = 0
    }
    return -1
  }

  /** Follows more keys again: those of the last minute may be gone. */
  turn(): void {
    this.lost = 0
    if (this.mask === 0) return
    this.mask >>>= 1
    // Keys that were not followed meanwhile would seem older than they are.
    this.forget()
  }

  /** Forgets all instants: some requests were not noted. */
  forget(): void {
    this.instants.fill(0)
  }
}

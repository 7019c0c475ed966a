// How long ago a key was last used, in constant memory: all requests of some keys are followed.
import type { Millis } from 'sluice'

const BITS = 10
const SLOTS = 1 << BITS
/** If this many keys lost their slot since the last turn, too many are followed. */
const CROWDED = SLOTS / 4

/** Follows all keys while they are few, and a part of them, chosen by their hash, when they are many. */
export class KeyAges {
  private readonly hashes = new Uint32Array(SLOTS)
  private readonly instants = new Float64Array(SLOTS)
  /** Keys with any of these bits in their hash are not followed; each request of the others has to be noted. */
  mask = 0
  private lost = 0

  /** Milliseconds since a followed key was last used; -1 if that is not known. */
  note(hash: number, at: Millis): Millis {
    // The bits of the mask are the lowest, those of the slot the highest.
    const slot = hash >>> (32 - BITS)
    const last = this.instants[slot]!
    this.instants[slot] = at
    if (this.hashes[slot] === hash && last !== 0) return at > last ? at - last : 0
    this.hashes[slot] = hash
    if (last !== 0) this.lost += 1
    if (this.lost > CROWDED) {
      this.mask = Math.min(2 * this.mask + 1, SLOTS - 1)
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

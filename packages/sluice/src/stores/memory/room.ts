// How much a memory store holds, and how much it may hold.

/** Counts keys and bytes over all tables of a store. The slots keep it up to date. */
export class Room {
  keys = 0
  /** Bytes of the keys and their states, with the average share of the index. */
  bytes = 0
  readonly maxKeys: number
  readonly maxBytes: number

  constructor(maxKeys: number, maxBytes: number) {
    this.maxKeys = maxKeys
    this.maxBytes = maxBytes
  }

  /** Whether one more key of so many bytes fits, when `added` others like it are about to be added. */
  fits(bytes: number, added: number): boolean {
    return this.keys + added < this.maxKeys && this.bytes + bytes * (added + 1) <= this.maxBytes
  }
}

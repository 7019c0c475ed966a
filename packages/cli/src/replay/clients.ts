// Numbers the clients of a log: each key gets a small integer, found from its bytes without making a string.
import { textOf } from '../logs/parser.ts'
import { grown } from './columns.ts'

/** The most clients that are told apart; decisions about others are exact, their statistics are summed up. */
export const MAX_CLIENTS = 1_000_000

/** The number of a client beyond {@link MAX_CLIENTS}. */
export const UNTRACKED = -1

const encoder = new TextEncoder()

/** Keys by number and numbers by key. */
export class Clients {
  size = 0
  private readonly most: number
  private readonly canonical: (key: string) => string
  private readonly keys: string[] = []
  private slots = new Int32Array(4096)
  private hashes = new Int32Array(1024)
  /** The bytes of all raw values, one behind the other; `ends[i]` is where those of the i-th end. */
  private arena = new Uint8Array(16_384)
  private ends = new Int32Array(1024)
  /** The client of each raw value: several spellings of an address are one client. */
  private clientOf = new Int32Array(1024)
  private values = 0
  private readonly scratch = new Uint8Array(4096)

  /** `canonical` maps a raw value to the key that is counted, such as an IPv6 address to its network. */
  constructor(canonical: (key: string) => string = (key) => key, most = MAX_CLIENTS) {
    this.canonical = canonical
    this.most = most
  }

  /** The key of a client. */
  key(id: number): string {
    return this.keys[id] as string
  }

  /** The client of a value, or {@link UNTRACKED}. */
  idOf(value: string): number {
    const { written, read } = encoder.encodeInto(value, this.scratch)
    if (read === value.length) return this.idOfBytes(this.scratch, 0, written)
    const bytes = encoder.encode(value)
    return this.idOfBytes(bytes, 0, bytes.length)
  }

  /** The client of the value in a range of bytes, or {@link UNTRACKED}. */
  idOfBytes(bytes: Uint8Array, from: number, to: number): number {
    let hash = 0x811c9dc5
    for (let i = from; i < to; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193)
    hash ^= hash >>> 15
    const { slots, hashes } = this
    const mask = slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const value = (slots[slot] as number) - 1
      if (value < 0) return this.add(bytes, from, to, hash, slot)
      if (hashes[value] === hash && this.isSame(value, bytes, from, to))
        return this.clientOf[value] as number
    }
  }

  /** The key for a value, also where it is not tracked. */
  keyOf(value: string): string {
    return this.canonical(value)
  }

  private isSame(value: number, bytes: Uint8Array, from: number, to: number): boolean {
    const { arena, ends } = this
    const end = ends[value] as number
    let i = value === 0 ? 0 : (ends[value - 1] as number)
    if (end - i !== to - from) return false
    for (let j = from; j < to; j++, i++) if (arena[i] !== bytes[j]) return false
    return true
  }

  private add(bytes: Uint8Array, from: number, to: number, hash: number, slot: number): number {
    // Spellings of clients that are known may be twice as many as clients.
    if (this.values >= this.most * 2) return UNTRACKED
    const value = textOf(bytes, from, to)
    const key = this.canonical(value)
    if (key !== value) {
      // The other spelling may overwrite the bytes and move the slots.
      const own = bytes.slice(from, to)
      const client = this.idOf(key)
      return client === UNTRACKED ? UNTRACKED : this.keep(own, hash, this.freeSlot(hash), client)
    }
    if (this.size >= this.most) return UNTRACKED
    this.keys.push(key)
    return this.keep(bytes.subarray(from, to), hash, slot, this.size++)
  }

  private keep(bytes: Uint8Array, hash: number, slot: number, client: number): number {
    const value = this.values++
    const start = value === 0 ? 0 : (this.ends[value - 1] as number)
    const end = start + bytes.length
    this.arena = grown(this.arena, end)
    this.arena.set(bytes, start)
    this.ends = grown(this.ends, value + 1)
    this.ends[value] = end
    this.hashes = grown(this.hashes, value + 1)
    this.hashes[value] = hash
    this.clientOf = grown(this.clientOf, value + 1)
    this.clientOf[value] = client
    this.slots[slot] = value + 1
    if (this.values * 2 > this.slots.length) this.rehash()
    return client
  }

  private freeSlot(hash: number): number {
    const mask = this.slots.length - 1
    let slot = hash & mask
    while (this.slots[slot] !== 0) slot = (slot + 1) & mask
    return slot
  }

  private rehash(): void {
    this.slots = new Int32Array(this.slots.length * 2)
    for (let value = 0; value < this.values; value++)
      this.slots[this.freeSlot(this.hashes[value] as number)] = value + 1
  }
}

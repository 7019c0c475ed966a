// Numbers the clients of a log: each key gets a small integer, found from its bytes without making a string.
import { textOf } from '../logs/parser.ts'
import { grown } from './columns.ts'

/** The most clients that are kept apart; decisions about others are exact, their statistics are summed up. */
const MAX_CLIENTS = 1_000_000

/** The number of a client beyond {@link MAX_CLIENTS}. */
export const UNTRACKED = -1

const encoder = new TextEncoder()

/** Keys by number and numbers by key. */
export class Clients {
  size = 0
  private readonly most: number
  private readonly canonical: (key: string) => string
  private readonly keys: string[] = []
  /** Four numbers for each slot, on one cache line: hash, client + 1 (0: free), where the bytes begin, and how many. */
  private slots = new Int32Array(4 * 2048)
  /** The bytes of all raw values, one after the other. */
  private arena = new Uint8Array(16_384)
  private arenaEnd = 0
  /** Raw values that are known: several spellings of an address are one client. */
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
    const { slots, arena } = this
    const mask = slots.length - 4
    const length = to - from
    for (let slot = (hash << 2) & mask; ; slot = (slot + 4) & mask) {
      const client = (slots[slot + 1] as number) - 1
      if (client < 0) return this.add(bytes, from, to, hash)
      if (slots[slot] !== hash || slots[slot + 3] !== length) continue
      const start = slots[slot + 2] as number
      let i = 0
      while (i < length && arena[start + i] === bytes[from + i]) i++
      if (i === length) return client
    }
  }

  /** The key for a value, also where it is not tracked. */
  keyOf(value: string): string {
    return this.canonical(value)
  }

  private add(bytes: Uint8Array, from: number, to: number, hash: number): number {
    // Spellings of clients that are known may be twice as many as clients.
    if (this.values >= this.most * 2) return UNTRACKED
    const value = textOf(bytes, from, to)
    const key = this.canonical(value)
    if (key !== value) {
      // Finding the other spelling may overwrite the bytes.
      const own = bytes.slice(from, to)
      const client = this.idOf(key)
      return client === UNTRACKED ? UNTRACKED : this.keep(own, hash, client)
    }
    if (this.size >= this.most) return UNTRACKED
    this.keys.push(key)
    return this.keep(bytes.subarray(from, to), hash, this.size++)
  }

  private keep(bytes: Uint8Array, hash: number, client: number): number {
    if (++this.values * 6 > this.slots.length) this.rehash()
    const start = this.arenaEnd
    this.arenaEnd += bytes.length
    this.arena = grown(this.arena, this.arenaEnd)
    this.arena.set(bytes, start)
    this.put(this.slots, hash, client + 1, start, bytes.length)
    return client
  }

  private put(
    slots: Int32Array,
    hash: number,
    client: number,
    start: number,
    length: number,
  ): void {
    const mask = slots.length - 4
    let slot = (hash << 2) & mask
    while (slots[slot + 1] !== 0) slot = (slot + 4) & mask
    slots[slot] = hash
    slots[slot + 1] = client
    slots[slot + 2] = start
    slots[slot + 3] = length
  }

  private rehash(): void {
    const { slots } = this
    const larger = new Int32Array(slots.length * 2)
    for (let i = 0; i < slots.length; i += 4)
      if (slots[i + 1] !== 0)
        this.put(larger, slots[i]!, slots[i + 1]!, slots[i + 2]!, slots[i + 3]!)
    this.slots = larger
  }
}

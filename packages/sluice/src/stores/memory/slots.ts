// The memory behind one table: a number for every key, and the key's state under that number.
//
// States are packed into typed arrays, two or three numbers each, because a heap object per key costs
// more memory and more cache misses than the rest of a decision. The arrays come in chunks, so that
// growing never copies much at once and an emptied chunk is given back whole.
import type { Algorithm, State } from '../../algorithms/algorithm.ts'

const CHUNK_BITS = 14
const CHUNK = 1 << CHUNK_BITS
const INDEX = CHUNK - 1
const SMALLEST = 64

interface Chunk {
  /** The key in each slot; undefined where the slot is free. */
  keys: (string | undefined)[]
  /** States that are more than their numbers. */
  readonly boxes: (State | undefined)[]
  /** Freed slots below `top`, to be used again. */
  readonly free: number[]
  /** Slots from here on were never used. */
  top: number
}

/** States by slot number. */
export class Slots {
  readonly #words: number
  // Apart from the chunks, so that reading a state takes one step less.
  readonly #packed: Float64Array[] = []
  readonly #chunks: (Chunk | undefined)[] = []
  #open = 0
  #size = 0
  #span = 0
  #cursor = 0

  constructor(algorithm: Algorithm) {
    this.#words = algorithm.words
  }

  /** Slots in use. */
  get size(): number {
    return this.#size
  }

  /** Slots in use or freed: this many calls of `next` look at each of them. */
  get span(): number {
    return this.#span
  }

  /** The next slot in turn, round and round; undefined when it is free. */
  next(): number | undefined {
    while ((this.#cursor & INDEX) >= (this.#chunks[this.#cursor >>> CHUNK_BITS]?.top ?? 0)) {
      if (this.#span === 0) return undefined
      const chunk = (this.#cursor >>> CHUNK_BITS) + 1
      this.#cursor = chunk < this.#chunks.length ? chunk << CHUNK_BITS : 0
    }
    const slot = this.#cursor++
    return this.keyAt(slot) === undefined ? undefined : slot
  }

  keyAt(slot: number): string | undefined {
    return this.#chunks[slot >>> CHUNK_BITS]?.keys[slot & INDEX]
  }

  load(slot: number): State {
    if (this.#words === 0) return this.#chunks[slot >>> CHUNK_BITS]!.boxes[slot & INDEX]!
    const packed = this.#packed[slot >>> CHUNK_BITS]!
    const i = (slot & INDEX) * this.#words
    return { at: packed[i]!, used: packed[i + 1]!, before: this.#words === 3 ? packed[i + 2]! : 0 }
  }

  save(slot: number, state: State): void {
    if (this.#words === 0) {
      this.#chunks[slot >>> CHUNK_BITS]!.boxes[slot & INDEX] = state
      return
    }
    const packed = this.#packed[slot >>> CHUNK_BITS]!
    const i = (slot & INDEX) * this.#words
    packed[i] = state.at
    packed[i + 1] = state.used
    if (this.#words === 3) packed[i + 2] = state.before
  }

  /** A slot for a new key. */
  add(key: string, state: State): number {
    const number = this.#roomyChunk()
    const chunk = this.#chunks[number]!
    let index = chunk.free.pop()
    if (index === undefined) {
      index = chunk.top++
      this.#span += 1
    }
    if (index * this.#words >= this.#packed[number]!.length) this.#grow(number)
    chunk.keys[index] = key
    this.#size += 1
    const slot = (number << CHUNK_BITS) | index
    this.save(slot, state)
    return slot
  }

  remove(slot: number): void {
    const number = slot >>> CHUNK_BITS
    const chunk = this.#chunks[number]!
    const index = slot & INDEX
    chunk.keys[index] = undefined
    if (this.#words === 0) chunk.boxes[index] = undefined
    chunk.free.push(index)
    this.#size -= 1
    if (chunk.free.length === chunk.top) this.#release(number)
  }

  #roomyChunk(): number {
    if (hasRoom(this.#chunks[this.#open])) return this.#open
    const found = this.#chunks.findIndex(hasRoom)
    const number = found >= 0 ? found : this.#chunks.indexOf(undefined)
    this.#open = number >= 0 ? number : this.#chunks.length
    if (found < 0) {
      // Small tables stay small; once there is a second chunk, the table is large.
      const slots = this.#chunks.length === 0 ? SMALLEST : CHUNK
      this.#chunks[this.#open] = { keys: [], boxes: [], free: [], top: 0 }
      this.#packed[this.#open] = new Float64Array(slots * this.#words)
    }
    return this.#open
  }

  #grow(number: number): void {
    if (this.#words === 0) return
    const old = this.#packed[number]!
    const grown = new Float64Array(old.length * 2)
    grown.set(old)
    this.#packed[number] = grown
  }

  #release(number: number): void {
    this.#span -= this.#chunks[number]!.top
    this.#chunks[number] = undefined
    this.#packed[number] = new Float64Array(0)
    while (this.#chunks.length > 0 && this.#chunks.at(-1) === undefined) {
      this.#chunks.pop()
      this.#packed.pop()
    }
  }
}

function hasRoom(chunk: Chunk | undefined): boolean {
  return chunk !== undefined && (chunk.top < CHUNK || chunk.free.length > 0)
}

// The memory behind one table: a number for every key, and the key's state under that number.
//
// Slots come in chunks, so that growing never copies much at once and an emptied chunk is given back whole.
import type { Algorithm, AlgorithmRow, State } from '../../algorithms/algorithm.ts'
import type { Limit } from '../../limit/limit.ts'
import type { TakeOutput } from '../store.ts'

const CHUNK_BITS = 14
const CHUNK = 1 << CHUNK_BITS
const INDEX = CHUNK - 1
const SMALLEST = 64

/** The keys in a chunk's slots. */
interface Chunk {
  /** The key in each slot; undefined where the slot is free. */
  readonly keys: (string | undefined)[]
  /** Freed slots below `top`, to be used again. */
  readonly free: number[]
  /** Slots from here on were never used. */
  top: number
}

/** Keys and states by slot number. */
export abstract class Slots {
  /** Slots in use. */
  size = 0
  /** Slots in use or freed: this many calls of `next` look at each of them. */
  span = 0
  private readonly chunks: (Chunk | undefined)[] = []
  private open = 0
  private cursor = 0

  /** The state in a slot, for the caller to change: its own until the next call of `load`. */
  abstract load(slot: number): State
  abstract save(slot: number, state: State): void
  /** Makes sure that a chunk has room for the state at this index. */
  protected abstract reserve(chunk: number, index: number): void
  /** Releases a chunk's states. */
  protected abstract release(chunk: number): void
  /** Releases one state. */
  protected abstract clear(slot: number): void

  keyAt(slot: number): string | undefined {
    return this.chunks[slot >>> CHUNK_BITS]?.keys[slot & INDEX]
  }

  /** The next slot in turn, round and round; undefined when it is free. */
  next(): number | undefined {
    while ((this.cursor & INDEX) >= (this.chunks[this.cursor >>> CHUNK_BITS]?.top ?? 0)) {
      if (this.span === 0) return undefined
      const chunk = (this.cursor >>> CHUNK_BITS) + 1
      this.cursor = chunk < this.chunks.length ? chunk << CHUNK_BITS : 0
    }
    const slot = this.cursor++
    return this.keyAt(slot) === undefined ? undefined : slot
  }

  /** The keys in so many slots from this one on, and the slot to go on with; undefined at the end. */
  keysFrom(slot: number, looks: number): { keys: string[]; next: number | undefined } {
    const keys: string[] = []
    let next = slot
    for (let left = looks; left > 0;) {
      const number = next >>> CHUNK_BITS
      if (number >= this.chunks.length) return { keys, next: undefined }
      const index = next & INDEX
      const chunk = this.chunks[number]
      if (chunk === undefined || index >= chunk.top) {
        next = (number + 1) << CHUNK_BITS
        continue
      }
      const key = chunk.keys[index]
      if (key !== undefined) keys.push(key)
      left -= 1
      // The last slot of a chunk may be the last of all.
      next = index + 1 < CHUNK ? next + 1 : (number + 1) << CHUNK_BITS
    }
    return { keys, next }
  }

  /** A slot for a new key. */
  add(key: string, state: State): number {
    const number = this.roomyChunk()
    const chunk = this.chunks[number]!
    let index = chunk.free.pop()
    if (index === undefined) {
      index = chunk.top++
      this.span += 1
      this.reserve(number, index)
    }
    chunk.keys[index] = key
    this.size += 1
    const slot = (number << CHUNK_BITS) | index
    this.save(slot, state)
    return slot
  }

  remove(slot: number): void {
    const number = slot >>> CHUNK_BITS
    const chunk = this.chunks[number]!
    chunk.keys[slot & INDEX] = undefined
    chunk.free.push(slot & INDEX)
    this.size -= 1
    this.clear(slot)
    if (chunk.free.length < chunk.top) return
    this.span -= chunk.top
    this.chunks[number] = undefined
    this.release(number)
    while (this.chunks.length > 0 && this.chunks.at(-1) === undefined) this.chunks.pop()
  }

  private roomyChunk(): number {
    if (hasRoom(this.chunks[this.open])) return this.open
    const found = this.chunks.findIndex(hasRoom)
    const number = found >= 0 ? found : this.chunks.indexOf(undefined)
    this.open = number >= 0 ? number : this.chunks.length
    this.chunks[this.open] ??= { keys: [], free: [], top: 0 }
    return this.open
  }
}

function hasRoom(chunk: Chunk | undefined): boolean {
  return chunk !== undefined && (chunk.top < CHUNK || chunk.free.length > 0)
}

/**
 * States as two or three numbers each, packed into typed arrays: an object per key would cost more memory
 * and more cache misses than the rest of a decision.
 */
export class PackedSlots extends Slots {
  private readonly packed: Float64Array[] = []
  private readonly words: number
  /** One object for all loads; fractions, so that V8 keeps its numbers in place from the start. */
  private readonly cell: State = { at: 0.5, used: 0.5, before: 0.5 }

  constructor(words: number) {
    super()
    this.words = words
    this.cell.before = 0
  }

  load(slot: number): State {
    const { cell } = this
    const packed = this.packed[slot >>> CHUNK_BITS]!
    const i = (slot & INDEX) * this.words
    cell.at = packed[i]!
    cell.used = packed[i + 1]!
    if (this.words === 3) cell.before = packed[i + 2]!
    return cell
  }

  save(slot: number, state: State): void {
    const packed = this.packed[slot >>> CHUNK_BITS]!
    const i = (slot & INDEX) * this.words
    packed[i] = state.at
    packed[i + 1] = state.used
    if (this.words === 3) packed[i + 2] = state.before
  }

  /** Loads, takes one unit and saves in one go: the hottest path, where finding the numbers twice would show. */
  takeOne(slot: number, algorithm: Algorithm, limit: Limit, left: TakeOutput): boolean {
    const packed = this.packed[slot >>> CHUNK_BITS]!
    const { words } = this
    const i = (slot & INDEX) * words
    const at = packed[i]!
    left.at = at
    left.used = packed[i + 1]!
    if (words === 3) left.before = packed[i + 2]!
    const allowed = algorithm.take(limit, left, 1, left.now)
    // A refusal keeps one thing: a state that moved back with the clock, since for it time must go on.
    if (!allowed && left.at >= at) return false
    packed[i] = left.at
    packed[i + 1] = left.used
    if (words === 3) packed[i + 2] = left.before
    return allowed
  }

  protected reserve(chunk: number, index: number): void {
    const old = this.packed[chunk]
    const needed = (index + 1) * this.words
    if (old !== undefined && needed <= old.length) return
    // Small tables stay small; once there is a second chunk, the table is large.
    const slots = chunk > 0 ? CHUNK : Math.max(SMALLEST, 2 * index)
    const grown = new Float64Array(slots * this.words)
    if (old !== undefined) grown.set(old)
    this.packed[chunk] = grown
  }

  protected release(chunk: number): void {
    if (chunk === this.packed.length - 1) this.packed.pop()
    else this.packed[chunk] = new Float64Array(0)
  }

  protected clear(): void {}
}

/** States that are more than their numbers. */
class BoxedSlots extends Slots {
  private readonly boxes: (State | undefined)[][] = []

  load(slot: number): State {
    return { ...this.boxes[slot >>> CHUNK_BITS]![slot & INDEX]! }
  }

  save(slot: number, state: State): void {
    this.boxes[slot >>> CHUNK_BITS]![slot & INDEX] = state
  }

  protected reserve(chunk: number): void {
    this.boxes[chunk] ??= []
  }

  protected release(chunk: number): void {
    this.boxes[chunk] = []
  }

  protected clear(slot: number): void {
    this.boxes[slot >>> CHUNK_BITS]![slot & INDEX] = undefined
  }
}

/** Slots for an algorithm's states. */
export function slotsFor(algorithm: AlgorithmRow): Slots {
  return algorithm.words === 0 ? new BoxedSlots() : new PackedSlots(algorithm.words)
}

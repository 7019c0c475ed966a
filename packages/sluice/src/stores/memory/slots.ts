// The keys of one table and their states: one record of fixed size each, found by the key's hash.
//
// A record is the state's numbers, a word of hash and length, and the text of a short key; the text of a long one is in a
// block of its own. No string is kept: the memory of a key is known, and a key that is a slice of a header does not keep
// the header alive.
import type { Algorithm, AlgorithmRow, State } from '../../algorithms/algorithm.ts'
import type { Limit } from '../../limit/limit.ts'
import type { TakeOutput } from '../store.ts'
import { Blocks, CHUNK_BITS, PLACE } from './blocks.ts'
import { KeyIndex } from './key-index.ts'
import { wordsFor, IN_BLOCK, KIND, TEXT_WORDS, textOf, WIDE_IN_BLOCK } from './key-text.ts'

// Constants of this file: V8 would load imported ones at each use, which shows on a hot key.
const BITS = CHUNK_BITS
const IN_CHUNK = PLACE
const KIND_BITS = KIND

/** Bytes that the index needs for a key, on average. */
const INDEX_BYTES = 8

/** Bytes of a state that is more than its numbers, where the algorithm does not say. */
const BOX_BYTES = 128

/** How much a memory store holds, over all its tables, and how much it may hold. The slots keep it up to date. */
export interface Room {
  keys: number
  /** Bytes of the keys and their states, with the average share of the index. */
  bytes: number
  readonly maxKeys: number
  readonly maxBytes: number
}

/** Keys and states by slot number. A slot's number stays until the key is removed. */
export abstract class Slots {
  /** Finds the slot of a key. */
  readonly keys: KeyIndex = new KeyIndex(this)
  /** The records, whose numbers are the slots. */
  readonly records: Blocks
  private readonly texts: Blocks[] = []
  protected readonly room: Room
  /** Words of a record, and those of them that come before the hash. */
  protected readonly words: number
  private readonly hashWord: number
  /** Bytes of a key whose text is in its record. */
  private readonly leastBytes: number
  private cursor = 0

  constructor(stateWords: number, room: Room) {
    this.room = room
    this.hashWord = stateWords
    this.words = stateWords + 1 + TEXT_WORDS
    this.leastBytes = 4 * this.words + INDEX_BYTES
    this.records = new Blocks(this.words)
  }

  /** The state in a slot, for the caller to change: its own until the next call of `load`. */
  abstract load(slot: number): State
  abstract save(slot: number, state: State): void

  /** Whether a new key fits, when `added` others like it are about to be added. States that are more than numbers come on top. */
  hasRoomFor(key: string, added: number): boolean {
    const { text } = this.keys
    const { keys, bytes, maxKeys, maxBytes } = this.room
    if (key !== text.key) text.read(key)
    const more = (this.leastBytes + 4 * text.blockWords) * (added + 1)
    return keys + added < maxKeys && bytes + more <= maxBytes
  }

  keyAt(slot: number): string | undefined {
    const kind = this.hashAt(slot) & KIND_BITS
    if (kind === 0) return undefined
    const ints = this.records.ints[slot >>> BITS]!
    const at = (slot & IN_CHUNK) * this.words + this.hashWord + 1
    if (kind < IN_BLOCK) return textOf(ints, at, kind - 1, false)
    const block = ints[at]!
    const bytes = ints[at + 1]!
    const words = wordsFor(bytes)
    const texts = this.textsOf(words).ints[block >>> BITS]!
    return textOf(texts, (block & IN_CHUNK) * words, bytes, kind === WIDE_IN_BLOCK)
  }

  /** The next slot in turn, round and round; -1 when it is free. */
  next(): number {
    let slot = this.records.from(this.cursor)
    if (slot < 0) slot = this.records.from(0)
    if (slot < 0) return -1
    this.cursor = slot + 1
    return (this.hashAt(slot) & KIND_BITS) === 0 ? -1 : slot
  }

  /** The keys in so many slots from this one on, and the slot to go on with; undefined at the end. */
  keysFrom(slot: number, looks: number): { keys: string[]; next: number | undefined } {
    const keys: string[] = []
    let next = this.records.from(slot)
    for (let left = looks; left > 0 && next >= 0; left--) {
      const key = this.keyAt(next)
      if (key !== undefined) keys.push(key)
      next = this.records.from(next + 1)
    }
    return { keys, next: next < 0 ? undefined : next }
  }

  /** Adds a key that has no slot. */
  add(key: string, state: State): void {
    const { text } = this.keys
    if (key !== text.key) text.read(key)
    const { words, bytes, blockWords } = text
    const slot = this.records.add()
    let ints = this.records.ints[slot >>> BITS]!
    let at = (slot & IN_CHUNK) * this.words
    // The link between freed records.
    ints[at] = 0
    at += this.hashWord
    ints[at++] = text.word
    if (blockWords > 0) {
      const blocks = this.textsOf(blockWords)
      const block = blocks.add()
      ints[at] = block
      ints[at + 1] = bytes
      ints = blocks.ints[block >>> BITS]!
      at = (block & IN_CHUNK) * blockWords
    }
    for (let i = (bytes - 1) >> 2; i >= 0; i--) ints[at + i] = words[i]!
    this.keys.add(slot)
    this.room.keys += 1
    this.room.bytes += this.leastBytes + 4 * blockWords
    this.save(slot, state)
  }

  remove(slot: number): void {
    const ints = this.records.ints[slot >>> BITS]!
    const at = (slot & IN_CHUNK) * this.words + this.hashWord
    const word = ints[at]!
    this.keys.remove(word, slot)
    this.room.keys -= 1
    this.room.bytes -= this.leastBytes
    if ((word & KIND_BITS) >= IN_BLOCK) {
      const words = wordsFor(ints[at + 2]!)
      this.textsOf(words).remove(ints[at + 1]!)
      this.room.bytes -= 4 * words
    }
    ints[at] = 0
    this.records.remove(slot)
    if (this.records.size === 0) this.keys.clear()
  }

  /** Whether the key that was read last is in this slot. */
  holdsRead(slot: number): boolean {
    const { text } = this.keys
    const { words, bytes, blockWords } = text
    let ints = this.records.ints[slot >>> BITS]!
    let at = (slot & IN_CHUNK) * this.words + this.hashWord
    if (ints[at++] !== text.word) return false
    if (blockWords > 0) {
      if (ints[at + 1] !== bytes) return false
      const block = ints[at]!
      ints = this.textsOf(blockWords).ints[block >>> BITS]!
      at = (block & IN_CHUNK) * blockWords
    }
    for (let i = (bytes - 1) >> 2; i >= 0; i--) if (ints[at + i] !== words[i]) return false
    return true
  }

  hashAt(slot: number): number {
    return this.records.ints[slot >>> BITS]![(slot & IN_CHUNK) * this.words + this.hashWord]!
  }

  /** The texts in blocks of so many words. */
  private textsOf(blockWords: number): Blocks {
    return (this.texts[blockWords] ??= new Blocks(blockWords))
  }
}

/**
 * States as two or three numbers each, packed into typed arrays: an object per key would cost more memory
 * and more cache misses than the rest of a decision.
 */
export class PackedSlots extends Slots {
  private readonly numbers: number
  /** The chunks of the records as numbers, and how many of them make a record. */
  private readonly floats: readonly Float64Array[]
  private readonly stride: number
  /** One object for all loads; fractions, so that V8 keeps its numbers in place from the start. */
  private readonly cell: State = { at: 0.5, used: 0.5, before: 0.5 }

  constructor(numbers: number, room: Room) {
    super(2 * numbers, room)
    this.numbers = numbers
    this.floats = this.records.floats
    this.stride = this.words / 2
    this.cell.before = 0
  }

  load(slot: number): State {
    const { cell } = this
    const packed = this.floats[slot >>> BITS]!
    const i = (slot & IN_CHUNK) * this.stride
    cell.at = packed[i]!
    cell.used = packed[i + 1]!
    if (this.numbers === 3) cell.before = packed[i + 2]!
    return cell
  }

  save(slot: number, state: State): void {
    const packed = this.floats[slot >>> BITS]!
    const i = (slot & IN_CHUNK) * this.stride
    packed[i] = state.at
    packed[i + 1] = state.used
    if (this.numbers === 3) packed[i + 2] = state.before
  }

  /** Loads, takes one unit and saves in one go: the hottest path, where finding the numbers twice would show. */
  takeOne(slot: number, algorithm: Algorithm, limit: Limit, left: TakeOutput): boolean {
    const packed = this.floats[slot >>> BITS]!
    const { numbers } = this
    const i = (slot & IN_CHUNK) * this.stride
    const at = packed[i]!
    left.at = at
    left.used = packed[i + 1]!
    if (numbers === 3) left.before = packed[i + 2]!
    const allowed = algorithm.take(limit, left, 1, left.now)
    // A refusal keeps one thing: a state that moved back with the clock, since for it time must go on.
    if (!allowed && left.at >= at) return false
    packed[i] = left.at
    packed[i + 1] = left.used
    if (numbers === 3) packed[i + 2] = left.before
    return allowed
  }
}

/** States that are more than their numbers. */
export class BoxedSlots extends Slots {
  private readonly boxes: (State | undefined)[][] = []
  private readonly algorithm: AlgorithmRow

  constructor(algorithm: AlgorithmRow, room: Room) {
    // A record has the bytes of its state, and the numbers that decide most takes.
    super(2 + 2 * (algorithm.front?.numbers ?? 0), room)
    this.algorithm = algorithm
  }

  load(slot: number): State {
    return { ...this.stateAt(slot) }
  }

  save(slot: number, state: State): void {
    const chunk = slot >>> BITS
    this.weigh(slot, this.algorithm.bytesOf?.(state) ?? BOX_BYTES)
    // What is taken in place must not change a verdict that holds the state.
    const own = this.algorithm.takeOne === undefined ? state : { ...state }
    ;(this.boxes[chunk] ??= [])[slot & IN_CHUNK] = own
    this.algorithm.front?.write(own, this.records.floats[chunk]!, this.frontOf(slot))
  }

  /** Takes one unit by the numbers in front, or from the state in its place; see `takeOne` of the algorithm. */
  takeOne(slot: number, limit: Limit, left: TakeOutput): boolean | undefined {
    const { front } = this.algorithm
    const packed = this.records.floats[slot >>> BITS]!
    const decided = front?.takeOne(limit, packed, this.frontOf(slot), left.now, left)
    return decided ?? this.takeFromState(slot, limit, left)
  }

  override remove(slot: number): void {
    this.weigh(slot, 0)
    super.remove(slot)
    const chunk = slot >>> BITS
    if (this.records.isEmpty(chunk)) this.boxes[chunk] = []
    else this.boxes[chunk]![slot & IN_CHUNK] = undefined
  }

  private takeFromState(slot: number, limit: Limit, left: TakeOutput): boolean | undefined {
    const { algorithm } = this
    const state = this.stateAt(slot)
    const allowed = algorithm.takeOne!(limit, state, left.now, left)
    if (allowed === true) this.weigh(slot, algorithm.bytesOf!(state))
    algorithm.front?.write(state, this.records.floats[slot >>> BITS]!, this.frontOf(slot))
    return allowed
  }

  /** The state in its place, up to date. */
  private stateAt(slot: number): State {
    const chunk = slot >>> BITS
    const state = this.boxes[chunk]![slot & IN_CHUNK]!
    this.algorithm.front?.read(state, this.records.floats[chunk]!, this.frontOf(slot))
    return state
  }

  /** Where the numbers begin that decide most takes. */
  private frontOf(slot: number): number {
    return (((slot & IN_CHUNK) * this.words) >> 1) + 1
  }

  private weigh(slot: number, bytes: number): void {
    const sizes = this.records.floats[slot >>> BITS]!
    const i = ((slot & IN_CHUNK) * this.words) / 2
    this.room.bytes += bytes - sizes[i]!
    sizes[i] = bytes
  }
}

/** Slots for an algorithm's states. */
export function slotsFor(algorithm: AlgorithmRow, room: Room): Slots {
  return algorithm.words === 0
    ? new BoxedSlots(algorithm, room)
    : new PackedSlots(algorithm.words, room)
}

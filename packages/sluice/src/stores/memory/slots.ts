// The keys of one table and their states: one record of fixed size each, found by the key's hash.
//
// A record is the state's numbers, a word of hash and length, and the text of a short key; the text of a long one is in a
// block of its own. No string is kept: the memory of a key is known, and a key that is a slice of a header does not keep
// the header alive.
import type { Algorithm, AlgorithmRow, State } from '../../algorithms/algorithm.ts'
import type { Limit } from '../../limit/limit.ts'
import type { TakeOutput } from '../store.ts'
import { Blocks, chunkOf, placeOf } from './blocks.ts'
import { KeyIndex } from './key-index.ts'
import { KeyText, textOf } from './key-text.ts'
import type { Room } from './room.ts'

/** Words of text in a record, behind the word of hash and length. */
const TEXT_WORDS = 5
const MAX_INLINE = 4 * TEXT_WORDS

/** The lowest bits of the word: 0 for a free record, the length plus 1 of a key in the record, or where else it is. */
const KIND = 127
const IN_BLOCK = 126
const WIDE_IN_BLOCK = 127

/** Bytes of a key in a block: a multiple of this. */
const BLOCK_STEP = 32
/** Bytes that the index needs for a key, on average. */
const INDEX_BYTES = 8

/** Bytes of a state that is more than its numbers, where the algorithm does not say. */
const BOX_BYTES = 128

/** Keys and states by slot number. A slot's number stays until the key is removed. */
export abstract class Slots {
  private index = new KeyIndex(this)
  private readonly text = new KeyText()
  private readonly texts: Blocks[] = []
  protected readonly records: Blocks
  protected readonly room: Room
  /** Words of a record, and those of them that come before the hash. */
  protected readonly words: number
  private readonly hashWord: number
  private cursor = 0

  constructor(stateWords: number, room: Room) {
    this.room = room
    this.hashWord = stateWords
    this.words = stateWords + 1 + TEXT_WORDS
    this.records = new Blocks(this.words)
  }

  /** Slots in use. */
  get size(): number {
    return this.records.size
  }

  /** Slots in use or freed: this many calls of `next` look at each of them. */
  get span(): number {
    return this.records.span
  }

  /** The state in a slot, for the caller to change: its own until the next call of `load`. */
  abstract load(slot: number): State
  abstract save(slot: number, state: State): void

  /** The slot of a key, -1 when there is none. */
  find(key: string): number {
    const { text } = this
    text.read(key)
    return this.index.find(text.hash)
  }

  /** Reads the text of a key, for {@link likely} and {@link holdsRead}. */
  read(key: string): void {
    this.text.read(key)
  }

  /** The slot that a search for the key that was read last looks at first; -1 when it looks at none. */
  likely(): number {
    return this.index.likely(this.text.hash)
  }

  /** Bytes that a key takes here, without a state that is more than its numbers. */
  bytesFor(key: string): number {
    const { text } = this
    text.read(key)
    return this.bytesWith(kindOf(text) < IN_BLOCK ? 0 : text.bytes)
  }

  keyAt(slot: number): string | undefined {
    const kind = this.kindAt(slot)
    if (kind === 0) return undefined
    const ints = this.records.ints[chunkOf(slot)]!
    const at = placeOf(slot) * this.words + this.hashWord + 1
    if (kind < IN_BLOCK) return textOf(ints, at, kind - 1, false)
    const bytes = ints[at + 1]!
    const block = ints[at]!
    const blocks = this.textsFor(bytes)
    const offset = placeOf(block) * wordsFor(bytes)
    return textOf(blocks.ints[chunkOf(block)]!, offset, bytes, kind === WIDE_IN_BLOCK)
  }

  /** The next slot in turn, round and round; undefined when it is free. */
  next(): number | undefined {
    let slot = this.records.from(this.cursor)
    if (slot < 0) slot = this.records.from(0)
    if (slot < 0) return undefined
    this.cursor = slot + 1
    return this.kindAt(slot) === 0 ? undefined : slot
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

  /** A slot for a key that has none. */
  add(key: string, state: State): number {
    const { text } = this
    text.read(key)
    const slot = this.records.add()
    const ints = this.records.ints[chunkOf(slot)]!
    const at = placeOf(slot) * this.words + this.hashWord
    const kind = kindOf(text)
    // The link between freed records.
    ints[at - this.hashWord] = 0
    ints[at] = (text.hash & ~KIND) | kind
    if (kind < IN_BLOCK) copyText(text, ints, at + 1)
    else {
      const blocks = this.textsFor(text.bytes)
      const block = blocks.add()
      copyText(text, blocks.ints[chunkOf(block)]!, placeOf(block) * wordsFor(text.bytes))
      ints[at + 1] = block
      ints[at + 2] = text.bytes
    }
    this.index.add(text.hash, slot)
    this.room.keys += 1
    this.room.bytes += this.bytesWith(kind < IN_BLOCK ? 0 : text.bytes)
    this.save(slot, state)
    return slot
  }

  remove(slot: number): void {
    const chunk = this.records.ints[chunkOf(slot)]!
    const at = placeOf(slot) * this.words + this.hashWord
    this.index.remove(chunk[at]!, slot)
    const inBlock = (chunk[at]! & KIND) < IN_BLOCK ? 0 : chunk[at + 2]!
    if (inBlock > 0) this.textsFor(inBlock).remove(chunk[at + 1]!)
    this.room.keys -= 1
    this.room.bytes -= this.bytesWith(inBlock)
    chunk[at] = 0
    this.records.remove(slot)
    if (this.records.size === 0) this.index = new KeyIndex(this)
  }

  /** Whether the key that was read last is in this slot. */
  holdsRead(slot: number): boolean {
    const { text } = this
    const ints = this.records.ints[chunkOf(slot)]!
    let at = placeOf(slot) * this.words + this.hashWord
    const kind = kindOf(text)
    if (ints[at] !== ((text.hash & ~KIND) | kind)) return false
    at += 1
    if (kind < IN_BLOCK) return isText(text, ints, at)
    if (ints[at + 1] !== text.bytes) return false
    const block = ints[at]!
    return isText(
      text,
      this.textsFor(text.bytes).ints[chunkOf(block)]!,
      placeOf(block) * wordsFor(text.bytes),
    )
  }

  hashAt(slot: number): number {
    return this.records.ints[chunkOf(slot)]![placeOf(slot) * this.words + this.hashWord]!
  }

  private kindAt(slot: number): number {
    return this.hashAt(slot) & KIND
  }

  private bytesWith(inBlock: number): number {
    return 4 * this.words + INDEX_BYTES + 4 * wordsFor(inBlock)
  }

  /** The blocks of the size for a key. */
  private textsFor(bytes: number): Blocks {
    const words = wordsFor(bytes)
    const step = words / (BLOCK_STEP / 4)
    return (this.texts[step] ??= new Blocks(words))
  }
}

/** Words of the block for a key. */
function wordsFor(bytes: number): number {
  return Math.ceil(bytes / BLOCK_STEP) * (BLOCK_STEP / 4)
}

function kindOf(text: KeyText): number {
  if (text.isWide) return WIDE_IN_BLOCK
  return text.bytes <= MAX_INLINE ? text.bytes + 1 : IN_BLOCK
}

/** Whether the words from `at` on are this text, of which the length is known to be equal. */
function isText(text: KeyText, ints: Int32Array, at: number): boolean {
  const { words } = text
  for (let i = (text.bytes - 1) >> 2; i >= 0; i--) if (ints[at + i] !== words[i]) return false
  return true
}

function copyText(text: KeyText, ints: Int32Array, at: number): void {
  const { words } = text
  for (let i = (text.bytes - 1) >> 2; i >= 0; i--) ints[at + i] = words[i]!
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
    const packed = this.floats[chunkOf(slot)]!
    const i = placeOf(slot) * this.stride
    cell.at = packed[i]!
    cell.used = packed[i + 1]!
    if (this.numbers === 3) cell.before = packed[i + 2]!
    return cell
  }

  save(slot: number, state: State): void {
    const packed = this.floats[chunkOf(slot)]!
    const i = placeOf(slot) * this.stride
    packed[i] = state.at
    packed[i + 1] = state.used
    if (this.numbers === 3) packed[i + 2] = state.before
  }

  /** Loads, takes one unit and saves in one go: the hottest path, where finding the numbers twice would show. */
  takeOne(slot: number, algorithm: Algorithm, limit: Limit, left: TakeOutput): boolean {
    const packed = this.floats[chunkOf(slot)]!
    const { numbers } = this
    const i = placeOf(slot) * this.stride
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
    const chunk = chunkOf(slot)
    this.weigh(slot, this.algorithm.bytesOf?.(state) ?? BOX_BYTES)
    // What is taken in place must not change a verdict that holds the state.
    const own = this.algorithm.takeOne === undefined ? state : { ...state }
    ;(this.boxes[chunk] ??= [])[placeOf(slot)] = own
    this.algorithm.front?.write(own, this.records.floats[chunk]!, this.frontOf(slot))
  }

  /** Takes one unit by the numbers in front, or from the state in its place; see `takeOne` of the algorithm. */
  takeOne(slot: number, limit: Limit, left: TakeOutput): boolean | undefined {
    const { front } = this.algorithm
    const packed = this.records.floats[chunkOf(slot)]!
    const decided = front?.takeOne(limit, packed, this.frontOf(slot), left.now, left)
    return decided ?? this.takeFromState(slot, limit, left)
  }

  override remove(slot: number): void {
    this.weigh(slot, 0)
    super.remove(slot)
    const chunk = chunkOf(slot)
    if (this.records.isEmpty(chunk)) this.boxes[chunk] = []
    else this.boxes[chunk]![placeOf(slot)] = undefined
  }

  private takeFromState(slot: number, limit: Limit, left: TakeOutput): boolean | undefined {
    const { algorithm } = this
    const state = this.stateAt(slot)
    const allowed = algorithm.takeOne!(limit, state, left.now, left)
    if (allowed === true) this.weigh(slot, algorithm.bytesOf!(state))
    algorithm.front?.write(state, this.records.floats[chunkOf(slot)]!, this.frontOf(slot))
    return allowed
  }

  /** The state in its place, up to date. */
  private stateAt(slot: number): State {
    const chunk = chunkOf(slot)
    const state = this.boxes[chunk]![placeOf(slot)]!
    this.algorithm.front?.read(state, this.records.floats[chunk]!, this.frontOf(slot))
    return state
  }

  /** Where the numbers begin that decide most takes. */
  private frontOf(slot: number): number {
    return ((placeOf(slot) * this.words) >> 1) + 1
  }

  private weigh(slot: number, bytes: number): void {
    const sizes = this.records.floats[chunkOf(slot)]!
    const i = (placeOf(slot) * this.words) / 2
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

// Blocks of one size in typed arrays. They come in chunks, so that growing copies little and an empty chunk is released.
const CHUNK_BITS = 12
const CHUNK = 1 << CHUNK_BITS
const SMALLEST = 64

/** A block's chunk, and its place in it. */
export const chunkOf = (block: number): number => block >>> CHUNK_BITS
export const placeOf = (block: number): number => block & (CHUNK - 1)

const NO_INTS = new Int32Array(0)
const NO_FLOATS = new Float64Array(0)

/** Numbered blocks of an even number of 32-bit words. */
export class Blocks {
  /** Blocks in use. */
  size = 0
  /** Blocks in use or freed. */
  span = 0
  /** The memory of each chunk, in two views; empty where a chunk was released. */
  readonly ints: Int32Array[] = []
  readonly floats: Float64Array[] = []
  private readonly words: number
  /** For each chunk: blocks from here on were never used; the first freed one plus 1, 0 for none; how many are in use. */
  private readonly tops: number[] = []
  private readonly freed: number[] = []
  private readonly used: number[] = []
  private open = 0

  constructor(words: number) {
    this.words = words
  }

  /** The number of a block whose words hold anything. */
  add(): number {
    const chunk = this.roomyChunk()
    let place = this.freed[chunk]! - 1
    if (place >= 0) {
      this.freed[chunk] = this.ints[chunk]![place * this.words]!
    } else {
      place = this.tops[chunk]!
      this.tops[chunk] = place + 1
      this.span += 1
      if ((place + 1) * this.words > this.ints[chunk]!.length) this.grow(chunk)
    }
    this.used[chunk]! += 1
    this.size += 1
    return (chunk << CHUNK_BITS) | place
  }

  /** Frees a block: its first word links it to the block that was freed before, the others stay. */
  remove(block: number): void {
    const chunk = chunkOf(block)
    this.size -= 1
    this.used[chunk]! -= 1
    if (this.used[chunk] === 0) return this.release(chunk)
    this.ints[chunk]![placeOf(block) * this.words] = this.freed[chunk]!
    this.freed[chunk] = placeOf(block) + 1
    if (!this.hasRoom(this.open)) this.open = chunk
  }

  /** The first block with this number or a higher one, freed ones too; -1 when there is none. */
  from(block: number): number {
    let chunk = chunkOf(block)
    if (placeOf(block) < (this.tops[chunk] ?? 0)) return block
    for (chunk += 1; chunk < this.tops.length; chunk++) {
      if (this.tops[chunk]! > 0) return chunk << CHUNK_BITS
    }
    return -1
  }

  /** Whether no block of a chunk is in use. */
  isEmpty(chunk: number): boolean {
    return this.used[chunk] === 0
  }

  private hasRoom(chunk: number): boolean {
    const top = this.tops[chunk]
    return top !== undefined && (top < CHUNK || this.freed[chunk]! > 0)
  }

  private roomyChunk(): number {
    if (this.hasRoom(this.open)) return this.open
    let chunk = 0
    while (chunk < this.tops.length && !this.hasRoom(chunk)) chunk += 1
    if (chunk === this.tops.length) {
      this.tops.push(0)
      this.freed.push(0)
      this.used.push(0)
      this.ints.push(NO_INTS)
      this.floats.push(NO_FLOATS)
    }
    this.open = chunk
    return chunk
  }

  private grow(chunk: number): void {
    const old = this.ints[chunk]!
    // Small tables stay small; once there is a second chunk, the table is large.
    const blocks = chunk > 0 ? CHUNK : Math.max(SMALLEST, (2 * old.length) / this.words)
    const buffer = new ArrayBuffer(Math.min(CHUNK, blocks) * this.words * 4)
    this.ints[chunk] = new Int32Array(buffer)
    this.floats[chunk] = new Float64Array(buffer)
    this.ints[chunk].set(old)
  }

  private release(chunk: number): void {
    this.span -= this.tops[chunk]!
    this.tops[chunk] = 0
    this.freed[chunk] = 0
    // A table of a few keys, which come and go, keeps its little memory.
    if (this.ints[chunk]!.length <= SMALLEST * this.words) return
    this.ints[chunk] = NO_INTS
    this.floats[chunk] = NO_FLOATS
  }
}

// Blocks of one size in typed arrays. They come in chunks, so that growing copies little and an empty chunk is released.

/** The upper bits of a block's number are its chunk, the lowest its place there. */
export const CHUNK_BITS = 12
const CHUNK = 1 << CHUNK_BITS
/** The bits of the place. */
export const PLACE: number = CHUNK - 1
const SMALLEST = 64

const NO_INTS = new Int32Array(0)
const NO_FLOATS = new Float64Array(0)

/** Numbered blocks of an even number of 32-bit words. */
export class Blocks {
  /** Blocks in use. */
  size = 0
  /** Blocks in use or freed. */
  span = 0
  /** The memory of each chunk, in two views; empty where a chunk was released. */
  readonly ints: Int32Array[] = [NO_INTS]
  readonly floats: Float64Array[] = [NO_FLOATS]
  private readonly words: number
  /** For each chunk: blocks from here on were never used; the first freed one plus 1, 0 for none; how many are in use. */
  private readonly tops: number[] = [0]
  private readonly freed: number[] = [0]
  private readonly used: number[] = [0]
  private open = 0

  constructor(words: number) {
    this.words = words
  }

  /** The number of a block whose words hold anything. */
  add(): number {
    if (this.used[this.open] === CHUNK) this.open = this.roomyChunk()
    const chunk = this.open
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
    const chunk = block >>> CHUNK_BITS
    const place = block & PLACE
    this.size -= 1
    this.used[chunk]! -= 1
    if (this.used[chunk] === 0) return this.release(chunk)
    this.ints[chunk]![place * this.words] = this.freed[chunk]!
    this.freed[chunk] = place + 1
    if (this.used[this.open] === CHUNK) this.open = chunk
  }

  /** The first block with this number or a higher one, freed ones too; -1 when there is none. */
  from(block: number): number {
    let chunk = block >>> CHUNK_BITS
    if ((block & PLACE) < (this.tops[chunk] ?? 0)) return block
    for (chunk += 1; chunk < this.tops.length; chunk++) {
      if (this.tops[chunk]! > 0) return chunk << CHUNK_BITS
    }
    return -1
  }

  /** Whether no block of a chunk is in use. */
  isEmpty(chunk: number): boolean {
    return this.used[chunk] === 0
  }

  /** A chunk that is not full, made if need be. */
  private roomyChunk(): number {
    const roomy = this.used.findIndex((used) => used < CHUNK)
    if (roomy >= 0) return roomy
    this.tops.push(0)
    this.freed.push(0)
    this.ints.push(NO_INTS)
    this.floats.push(NO_FLOATS)
    return this.used.push(0) - 1
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

// A key as records keep it: its bytes as words, and a keyed hash of them, both made in one pass.
import { sha256 } from '../../key/sha256.ts'

/** The longest text that a table keeps as it is, in bytes; a longer key is kept as its SHA-256. */
const MAX_BYTES = 128

/** Words of text in a record; a text that does not fit there is in a block of its own, in whole steps of so many bytes. */
export const TEXT_WORDS = 5
const MAX_INLINE = 4 * TEXT_WORDS
const BLOCK_STEP = 32

/** The lowest bits of a text's word: 0 for a free record, the length plus 1 of a text in the record, or where else it is. */
export const KIND = 127
export const IN_BLOCK = 126
export const WIDE_IN_BLOCK = 127

/** Places in the secret behind those of the bytes. */
const LENGTH = MAX_BYTES
const WIDE = MAX_BYTES + 1
const START = MAX_BYTES + 2

/** The numbers that keys are hashed with: the same for all tables of the process. */
const secret = new Int32Array(MAX_BYTES + 3)
let isSeeded = false

/**
 * The key that was read last. Each table has its own, so that the keys of one request are read once.
 *
 * The hash is multilinear: the sum of each byte times a secret number of its place, modulo 2^32. Any two different
 * texts that were chosen without the secret agree in the upper 25 bits with a probability of 2^-25, whatever they are,
 * so an attacker cannot prepare keys that collide. Collisions cost time only: tables compare the whole text.
 */
export class KeyText {
  /** The text, four bytes in each word, zeros behind its end. */
  readonly words: Int32Array = new Int32Array(MAX_BYTES / 4)
  bytes = 0
  /** Whether a character takes two bytes, because one of them is not in Latin-1. */
  isWide = false
  hash = 0
  /** What a record keeps beside the text: the hash, with the {@link KIND} instead of its lowest bits. */
  word = 0
  /** Words of the block for the text; 0 when a record has room for it. */
  blockWords = 0
  /** The key itself. */
  key = ''

  read(key: string): void {
    if (!isSeeded) seed()
    this.key = key
    const { length } = key
    if (length > MAX_BYTES) this.readNarrow(hashed(key))
    else if (!this.readNarrow(key)) {
      if (2 * length > MAX_BYTES) this.readNarrow(hashed(key))
      else this.readWide(key)
    }
    const { bytes, isWide } = this
    const isInline = bytes <= MAX_INLINE && !isWide
    const kind = isInline ? bytes + 1 : isWide ? WIDE_IN_BLOCK : IN_BLOCK
    this.word = (this.hash & ~KIND) | kind
    this.blockWords = isInline ? 0 : wordsFor(bytes)
  }

  /** Reads one byte per character; false when that is not enough. */
  private readNarrow(key: string): boolean {
    const { words } = this
    const { length } = key
    let hash = secret[START]! + Math.imul(secret[LENGTH]!, length)
    let seen = 0
    let i = 0
    for (; i + 3 < length; i += 4) {
      const a = key.charCodeAt(i)
      const b = key.charCodeAt(i + 1)
      const c = key.charCodeAt(i + 2)
      const d = key.charCodeAt(i + 3)
      hash = (hash + Math.imul(secret[i]!, a) + Math.imul(secret[i + 1]!, b)) | 0
      hash = (hash + Math.imul(secret[i + 2]!, c) + Math.imul(secret[i + 3]!, d)) | 0
      seen |= a | b | c | d
      words[i >>> 2] = a | (b << 8) | (c << 16) | (d << 24)
    }
    if (i < length) {
      let word = 0
      for (let shift = 0; i < length; i++, shift += 8) {
        const a = key.charCodeAt(i)
        hash = (hash + Math.imul(secret[i]!, a)) | 0
        seen |= a
        word |= a << shift
      }
      words[(length - 1) >>> 2] = word
    }
    this.bytes = length
    this.isWide = false
    this.hash = hash
    return seen < 256
  }

  private readWide(key: string): void {
    const { words } = this
    const { length } = key
    let hash = (secret[START]! + Math.imul(secret[LENGTH]!, 2 * length) + secret[WIDE]!) | 0
    for (let i = 0; i < length; i++) {
      const code = key.charCodeAt(i)
      hash = (hash + Math.imul(secret[2 * i]!, code & 255)) | 0
      hash = (hash + Math.imul(secret[2 * i + 1]!, code >>> 8)) | 0
      if (i % 2 === 0) words[i >>> 1] = code
      else words[i >>> 1]! |= code << 16
    }
    this.bytes = 2 * length
    this.isWide = true
    this.hash = hash
  }
}

/** Words of the block for a text of so many bytes. */
export function wordsFor(bytes: number): number {
  return Math.ceil(bytes / BLOCK_STEP) * (BLOCK_STEP / 4)
}

/** Only at the first key: some edge runtimes give no random numbers before the first request. */
function seed(): void {
  crypto.getRandomValues(secret)
  isSeeded = true
}

/** What a long key is kept as: the form that {@link sha256} has in keys, so that a listed key is found again. */
function hashed(key: string): string {
  return `~${sha256(key)}`
}

/** The text of so many bytes in words from `offset` on. */
export function textOf(words: Int32Array, offset: number, bytes: number, isWide: boolean): string {
  let text = ''
  const [perWord, bits, mask] = isWide ? [2, 16, 0xffff] : [4, 8, 0xff]
  const count = isWide ? bytes / 2 : bytes
  for (let i = 0; i < count; i++) {
    const word = words[offset + Math.floor(i / perWord)]!
    text += String.fromCharCode((word >>> (bits * (i % perWord))) & mask)
  }
  return text
}

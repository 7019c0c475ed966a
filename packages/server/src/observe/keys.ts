// Keys as they are kept and shown: hashed, shortened, or as the attributes that make them. What is kept must not keep the request alive.
import { createHash } from 'node:crypto'
import type { Attributes } from 'sluice'

/** Attributes with their values as text; a long value is its hash. */
export type NamedKey = Readonly<Record<string, string>>

/** The values of one key share this many characters, so that many keys can be kept. */
const MAX_CHARACTERS = 128
/** A hash has so many; no value as short as that is hashed. */
const HASH_CHARACTERS = 44

/** Returns what makes the named key of a request, for a rule that counts by these attributes. */
export function keyNamer(by: readonly string[]): (attributes: Attributes) => NamedKey {
  const longest = longestValue(by.length)
  return (attributes) => {
    const pairs: [string, string][] = []
    for (const name of by) {
      const text = String(attributes[name])
      pairs.push([name, text.length > longest ? hashOf(text) : ownText(text)])
    }
    return Object.fromEntries(pairs)
  }
}

/** Characters of a value, in a key of so many attributes; a longer one is hashed. */
function longestValue(attributes: number): number {
  return Math.max(MAX_CHARACTERS / attributes, HASH_CHARACTERS)
}

function hashOf(text: string): string {
  return `~${createHash('sha256').update(text).digest('base64url')}`
}

/** Whether a key has all of these attributes. A long value matches its hash. */
export function hasAttributes(key: NamedKey, wanted: Attributes): boolean {
  const longest = longestValue(Object.keys(key).length)
  return Object.entries(wanted).every(([name, value]) => {
    const text = String(value)
    return key[name] === (text.length > longest ? hashOf(text) : text)
  })
}

/** V8 copies shorter parts of a string; longer ones point into the whole. */
const COPIED = 13

/**
 * The same text, which keeps nothing else alive: a part of a header would keep the whole header. To take a part of a joined
 * string, V8 first copies the whole of it; a way through bytes takes three times as long.
 */
export function ownText(text: string): string {
  return text.length < COPIED ? text : ` ${text}`.slice(1)
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const CODES = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0))

/** 32 bits of a string, fast and well mixed; someone may find two keys that collide. Other seeds give independent hashes. */
export function hash32(text: string, seed = 0): number {
  let hash = 0x811c9dc5 ^ seed
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return mixed(hash)
}

/** Spreads every bit of a hash over all of them. */
function mixed(value: number): number {
  let hash = value ^ (value >>> 16)
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** How many characters an id of {@link shortIds} has. */
export const SHORT_ID_LENGTH = 10

/** Two characters for every number of twelve bits. */
const PAIRS: readonly string[] = Array.from(
  { length: 4096 },
  (_, value) => ALPHABET[value % 64]! + ALPHABET[value >> 6]!,
)

/**
 * Makes ids of keys: 60 bits of the scope and the key as ten characters that are safe in URLs and headers. Every refusal
 * has such an id, so both halves are hashed in one pass: reading a character costs more than hashing it.
 */
export function shortIds(scope: string): (key: string) => string {
  const first = hash32(scope)
  const second = hash32(scope, 0x9e3779b9)
  return (key) => {
    let a = first
    let b = second
    for (let i = 0; i < key.length; i++) {
      const code = key.charCodeAt(i)
      a = Math.imul(a ^ code, 0x01000193)
      b = Math.imul(b ^ code, 0x85ebca6b)
    }
    return tenLetters(mixed(a), mixed(b))
  }
}

const keyIdOf = shortIds('key')
/** Longer keys stand as their hash where many are kept. */
const LONGEST_KEPT = 24

/** What stands for a key in sketches: the key itself, or 60 bits of it, so that its length costs no memory. */
export function keptKey(key: string): string {
  return key.length <= LONGEST_KEPT ? key : `~${keyIdOf(key)}`
}

/** Thirty bits of each, as one string at once: joining pairs of letters takes longer than hashing the key. */
function tenLetters(a: number, b: number): string {
  return String.fromCharCode(
    CODES[a & 63]!,
    CODES[(a >>> 6) & 63]!,
    CODES[(a >>> 12) & 63]!,
    CODES[(a >>> 18) & 63]!,
    CODES[(a >>> 24) & 63]!,
    CODES[b & 63]!,
    CODES[(b >>> 6) & 63]!,
    CODES[(b >>> 12) & 63]!,
    CODES[(b >>> 18) & 63]!,
    CODES[(b >>> 24) & 63]!,
  )
}

/** Two characters that differ for 4,096 numbers in a row. */
export function twoLetters(value: number): string {
  return PAIRS[value & 4095]!
}

/** The low bits of a whole number, six for each character. */
export function letters(value: number, count: number): string {
  let text = ''
  let rest = value
  for (let i = 0; i < count; i++) {
    text += ALPHABET[rest % 64]!
    rest = Math.floor(rest / 64)
  }
  return text
}

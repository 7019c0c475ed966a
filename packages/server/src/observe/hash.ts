// Hashes of keys for sketches and ids: fast, well mixed, and no protection against someone who wants two keys to collide.

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** 32 bits of a string. Other seeds give independent hashes. */
export function hash32(text: string, seed = 0): number {
  let hash = 0x811c9dc5 ^ seed
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** How many characters {@link shortId} has. */
export const SHORT_ID_LENGTH = 10

/** 60 bits of a string as ten characters that are safe in URLs and headers. */
export function shortId(text: string): string {
  return letters(hash32(text), 5) + letters(hash32(text, 0x9e3779b9), 5)
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

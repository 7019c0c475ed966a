// The name of a count in Redis: short, injective, and hash-tagged by the request's own part.
import { sha256 } from '../key/sha256.ts'

/** The number of the packed format of states in Redis. */
const FORMAT = 'redis 1 '
/** Begins the tag of a key that cannot be a tag itself; its hash follows. */
const HASHED = '~#'
/** In bytes, so that a name is never longer than 106. */
const LONGEST_TAG = 64
const LONGEST_PREFIX = 32
const SPACE_LENGTH = 8

/**
 * Names counts: `sl:{key}space`. The space is a hash of 48 bits, since it is the same for all keys of a rule
 * and would be most of each name. Checks with the same key share a cluster slot, whatever their rule.
 *
 * @example
 * ```ts
 * const nameOf = redisKeys('sl:')
 * for (const { space } of placesOf(policy)) console.log(nameOf(space, 'ann'))
 * ```
 */
export function redisKeys(prefix: string): (space: string, key: string) => string {
  const spaces = new Map<string, string>()
  const open = `${prefix}{`
  // Consecutive requests usually share a space.
  let lastSpace: string | undefined
  let lastClose = ''
  return (space, key) => {
    if (space !== lastSpace) {
      let close = spaces.get(space)
      if (close === undefined) {
        close = `}${sha256(FORMAT + space).slice(0, SPACE_LENGTH)}`
        spaces.set(space, close)
      }
      lastSpace = space
      lastClose = close
    }
    return open + (isTag(key) ? key : HASHED + sha256(key)) + lastClose
  }
}

/** Whether a key may stand between the braces: without braces, not empty, not long, and the same in UTF-8. */
function isTag(key: string): boolean {
  if (key.length * 3 > LONGEST_TAG && !isShort(key, LONGEST_TAG)) return false
  // Most keys are ASCII, and reading them here costs less than a regular expression.
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i)
    if (code > 127) return PLAIN.test(key) && !key.startsWith(HASHED)
    if (code === OPEN || code === CLOSE) return false
  }
  return key.length > 0 && !key.startsWith(HASHED)
}

const OPEN = 0x7b
const CLOSE = 0x7d
/** One or more characters without braces and lone surrogates. */
const PLAIN = /^[^{}\ud800-\udfff]+$/u

/** Whether every name may begin with this. */
export function isPrefix(prefix: unknown): prefix is string {
  return typeof prefix === 'string' && !/[{}]/.test(prefix) && isShort(prefix, LONGEST_PREFIX)
}

const encoder = new TextEncoder()

function isShort(text: string, bytes: number): boolean {
  // A character is one to three bytes in UTF-8 for each of its UTF-16 units.
  if (text.length > bytes || text.length * 3 <= bytes) return text.length <= bytes
  return encoder.encode(text).length <= bytes
}

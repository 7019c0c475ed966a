// Where the count of one descriptor lives: texts that are equal only for equal lists of values.
import { createHash } from 'node:crypto'

/** Length up to which a value is part of the key as it is; of a longer one the key has the hash. */
const MAX_PLAIN = 128
/** What a hash begins with; a value that begins so is hashed as well, so that none can pose as one. */
const HASHED = '~'

/** One key for a list of values. A single short value is its own key. */
export function countKey(values: readonly string[]): string {
  if (values.length === 1) {
    const value = values[0]!
    return value === '' ? HASHED : part(value)
  }
  return HASHED + lengthPrefixed(values.map(part))
}

/** The texts with their lengths in front, so that no choice of texts can shift a border. */
export function lengthPrefixed(texts: readonly string[]): string {
  let all = ''
  for (const text of texts) all += `${text.length}:${text}`
  return all
}

function part(value: string): string {
  if (value.length <= MAX_PLAIN && !value.startsWith(HASHED)) return value
  return HASHED + createHash('sha256').update(value).digest('base64url')
}

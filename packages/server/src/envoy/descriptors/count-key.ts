// Where the count of one descriptor lives: texts that are equal only for equal lists of values.
import { createHash } from 'node:crypto'

/** Length up to which a value is part of the key as it is; of a longer one the key has the hash. */
const MAX_PLAIN = 128
/** What a hash begins with; a value that begins so is hashed as well, so that none can pose as one. */
const HASHED = '~'

/** One key for a list of values. A single short value is its own key. */
export function countKey(values: readonly string[]): string {
  if (values.length === 1) return countKeyOfOne(values[0]!)
  return HASHED + lengthPrefixed(values.map(part))
}

/** The key of a single value: {@link countKey} without a list. */
export function countKeyOfOne(value: string): string {
  return value === '' ? HASHED : part(value)
}

/**
 * The values of a key that {@link countKey} made of so many; undefined for other strings and for keys of which a value
 * is no more than its hash.
 */
export function valuesOfKey(key: string, length: number): readonly string[] | undefined {
  if (length === 1) return key === HASHED ? [''] : key.startsWith(HASHED) ? undefined : [key]
  if (!key.startsWith(HASHED)) return undefined
  const values: string[] = []
  for (let at = 1; at < key.length;) {
    const colon = key.indexOf(':', at)
    const size = key.slice(at, colon)
    if (colon < 0 || !/^\d{1,4}$/.test(size)) return undefined
    at = colon + 1 + Number(size)
    if (at > key.length) return undefined
    values.push(key.slice(colon + 1, at))
  }
  const isWhole = values.length === length && !values.some((value) => value.startsWith(HASHED))
  return isWhole ? values : undefined
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

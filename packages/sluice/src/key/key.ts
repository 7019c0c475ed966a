// The one place where attributes become keys: injective, bounded, free of separators that a user could inject.
import { show, SluiceError } from '../errors.ts'
import { sha256 } from './sha256.ts'

/** The longest value that is accepted at all, in UTF-16 code units. */
export const LONGEST_VALUE = 65_536

/** The longest value that a key contains as it is; a longer one is replaced by its hash. */
const LONGEST_PLAIN = 128

/** The prefix of a hashed value. A plain value that begins with it is hashed as well, so none can pose as a hash. */
const HASH_PREFIX = '~'
const HASH_PREFIX_CODE = HASH_PREFIX.charCodeAt(0)

/** The prefix of the key of several values, or of none: no plain value and no hash begins with it. */
const LIST_PREFIX = '~:'

/**
 * The text of an attribute as keys and conditions have it; undefined if it is not known. Throws `invalid-attributes`
 * for a value that is not a string, a finite number or a boolean.
 */
export function attributeText(
  attributes: Readonly<Record<string, unknown>>,
  name: string,
): string | undefined {
  const value = attributes[name]
  if (value === undefined || value === null || value === '') return undefined
  // Every object inherits `constructor`; a polluted prototype must not set an attribute.
  if (!Object.hasOwn(attributes, name)) return undefined
  if (typeof value === 'string') return value
  if (isLiteral(value)) return String(value)
  throw new SluiceError(
    'invalid-attributes',
    `attribute ${show(name)} is ${show(value)}; accepted: a string, a finite number, a boolean, or nothing`,
  )
}

/** Whether a value has a text of its own: it is a string, a finite number or a boolean. */
export function isLiteral(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

/** One key for a list of values: equal only for equal lists. A single short value is its own key. */
export function keyOf(values: readonly string[], hash = false): string {
  if (values.length === 1) return keyPartOf(values[0]!, hash)
  let key = LIST_PREFIX
  for (const value of values) key += lengthPrefixed(keyPartOf(value, hash))
  return key
}

/**
 * The values of a key, each as the key contains it, a hashed one as its hash; undefined for a string that is no key.
 *
 * @example
 * ```ts
 * valuesIn('ann') // ['ann']
 * ```
 */
export function valuesIn(key: string): readonly string[] | undefined {
  if (!key.startsWith(LIST_PREFIX)) return [key]
  const values: string[] = []
  for (let at = LIST_PREFIX.length; at < key.length;) {
    const length = /^(0|[1-9]\d{0,6}):/.exec(key.slice(at, at + 8))
    if (length === null) return undefined
    const start = at + length[0].length
    at = start + Number(length[1])
    if (at > key.length) return undefined
    values.push(key.slice(start, at))
  }
  return values
}

/** The values with their lengths in front, so that no choice of values can shift a border. */
export function joinWithLengths(values: readonly string[]): string {
  let key = ''
  for (const value of values) key += lengthPrefixed(value)
  return key
}

function lengthPrefixed(value: string): string {
  return `${value.length}:${value}`
}

/** Whether a key contains a value as it is: it is not empty, short, and cannot be mistaken for a hash. */
export function isPlain(value: string): boolean {
  const { length } = value
  return length <= LONGEST_PLAIN && length > 0 && value.charCodeAt(0) !== HASH_PREFIX_CODE
}

/** A value as a key contains it: itself, or its hash. */
function keyPartOf(value: string, hash: boolean): string {
  if (!hash && (isPlain(value) || value === '')) return value
  if (value.length > LONGEST_VALUE) {
    throw new SluiceError(
      'invalid-key',
      `key value ${show(value)} has ${value.length} characters; accepted: at most ${LONGEST_VALUE}`,
    )
  }
  return HASH_PREFIX + sha256(value)
}

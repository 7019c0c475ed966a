// The one place where attributes become keys: injective, bounded, free of separators that a user could inject.
import { show, SluiceError } from '../errors.ts'
import { sha256 } from './sha256.ts'

/** The longest value that is accepted at all, in UTF-16 code units. */
export const LONGEST_VALUE = 65_536

/** The longest value that stands in a key as it is; a longer one stands as its hash. */
const LONGEST_PLAIN = 128

/** What a hashed value begins with. A plain value that begins so is hashed as well, so none can pose as a hash. */
const HASHED = '~'
const HASHED_CODE = HASHED.charCodeAt(0)

/** What the key of several values, or of none, begins with: neither a plain value nor a hash does. */
const LIST = '~:'

/**
 * The text of an attribute as it stands in keys and conditions, undefined when it is not known. Throws `invalid-attributes`
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
  if (values.length === 1) return part(values[0]!, hash)
  let key = LIST
  for (const value of values) key += prefixed(part(value, hash))
  return key
}

/**
 * The values of a key, each as it stands there, a hashed one as its hash; undefined for a string that is no key.
 *
 * @example
 * ```ts
 * valuesIn('ann') // ['ann']
 * ```
 */
export function valuesIn(key: string): readonly string[] | undefined {
  if (!key.startsWith(LIST)) return [key]
  const values: string[] = []
  for (let at = LIST.length; at < key.length;) {
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
export function joined(values: readonly string[]): string {
  let key = ''
  for (const value of values) key += prefixed(value)
  return key
}

function prefixed(value: string): string {
  return `${value.length}:${value}`
}

/** Whether a value that is not empty stands in a key as it is: it is short, and cannot be mistaken for a hash. */
export function isPlain(value: string): boolean {
  const { length } = value
  return length <= LONGEST_PLAIN && length > 0 && value.charCodeAt(0) !== HASHED_CODE
}

/** A value as it stands in a key. */
function part(value: string, hash: boolean): string {
  if (!hash && (isPlain(value) || value === '')) return value
  if (value.length > LONGEST_VALUE) {
    throw new SluiceError(
      'invalid-key',
      `key value ${show(value)} has ${value.length} characters; accepted: at most ${LONGEST_VALUE}`,
    )
  }
  return HASHED + sha256(value)
}

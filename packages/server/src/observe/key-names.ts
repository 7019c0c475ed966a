// The attributes that make a key, as operators read them.
import { createHash } from 'node:crypto'
import type { Attributes } from 'sluice'
import { ownText } from '../log/own-text.ts'

/** Attributes with their values as text; a long value is its hash. */
export type NamedKey = Readonly<Record<string, string>>

/** The values of one key share this many characters, so that many keys can be kept. */
const MAX_CHARACTERS = 128
/** A hash has so many; no value as short as that is hashed. */
const HASH_CHARACTERS = 44

/** The attributes of a request that a rule counts by. */
export function namedKey(by: readonly string[], attributes: Attributes): NamedKey {
  return Object.fromEntries(
    by.map((name) => [name, ownText(plainOrHash(attributes[name], by.length))]),
  )
}

/** A value of a key with so many attributes. */
function plainOrHash(value: unknown, attributes: number): string {
  const text = String(value)
  if (text.length <= Math.max(MAX_CHARACTERS / attributes, HASH_CHARACTERS)) return text
  return `~${createHash('sha256').update(text).digest('base64url')}`
}

/** Whether a key has all of these attributes. A long value matches its hash. */
export function hasAttributes(key: NamedKey, wanted: Attributes): boolean {
  const { length } = Object.keys(key)
  return Object.entries(wanted).every(([name, value]) => key[name] === plainOrHash(value, length))
}

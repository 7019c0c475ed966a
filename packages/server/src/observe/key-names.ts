// The attributes that make a key, as operators read them.
import { createHash } from 'node:crypto'
import type { Attributes } from 'sluice'
import { ownText } from '../log/own-text.ts'

/** Attributes with their values as text; a long value is its hash. */
export type NamedKey = Readonly<Record<string, string>>

/** Longer values stand as their hash, as they do in keys. */
const LONGEST_PLAIN = 128

/** The attributes of a request that a rule counts by. */
export function namedKey(by: readonly string[], attributes: Attributes): NamedKey {
  const [only] = by
  const textOf = (name: string): string => ownText(plainOrHash(attributes[name]))
  if (by.length === 1 && only !== undefined) return { [only]: textOf(only) }
  return Object.fromEntries(by.map((name) => [name, textOf(name)]))
}

function plainOrHash(value: unknown): string {
  const text = String(value)
  if (text.length <= LONGEST_PLAIN) return text
  return `~${createHash('sha256').update(text).digest('base64url')}`
}

/** Whether a key has all of these attributes. A long value matches its hash. */
export function hasAttributes(key: NamedKey, wanted: Attributes): boolean {
  return Object.entries(wanted).every(([name, value]) => key[name] === plainOrHash(value))
}

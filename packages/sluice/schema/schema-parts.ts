// The small parts from which the JSON Schema of policies is put together.
import { LONGEST_LIST } from '../src/policy/fields.ts'

/** A JSON Schema, or a part of one. */
export interface Schema {
  readonly [keyword: string]: unknown
}

/** A reference to a named part. */
export const ref = (name: string): Schema => ({ $ref: `#/$defs/${name}` })

/** A list, as long as the parser reads. */
export const listOf = (items: Schema): Schema => ({ type: 'array', items, maxItems: LONGEST_LIST })

/** An object with exactly the members of T. */
export function table<T>(
  properties: Record<keyof T, Schema>,
  required: readonly (keyof T)[],
): Schema {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** A member that is false unless it is said. */
export const flag = (description: string): Schema => ({
  description,
  type: 'boolean',
  default: false,
})

/** A whole number that a double holds exactly. */
export const units = (description: string, minimum: number): Schema => ({
  description,
  type: 'integer',
  minimum,
  maximum: Number.MAX_SAFE_INTEGER,
})

// Finds the first override that matches a request: those for single values by a table, the others one after the other.
import { attributeText } from '../key/key.ts'
import { compileCondition, meaningOf, spellingsOf, type Predicate } from './pattern.ts'
import type { Attributes, Condition, Override } from './policy.ts'

/** The position of the first override that matches, or -1. */
export type FindOverride = (attributes: Attributes) => number

/**
 * Compiles overrides. One on exact values of one attribute, such as `{ user: 'ann' }`, is looked up by the value, so
 * that thousands of them cost as much as one.
 */
export function compileOverrides(overrides: readonly Override[]): FindOverride {
  const byAttribute = new Map<string, Map<string, number>>()
  const others: { readonly position: number; readonly applies: Predicate }[] = []
  for (const [position, { when }] of overrides.entries()) {
    const exact = exactValues(when)
    if (exact === undefined) others.push({ position, applies: compileCondition(when) })
    else addTo(byAttribute, exact, position)
  }
  const tables = [...byAttribute]
  return (attributes) => {
    let first = Infinity
    for (const [name, positions] of tables) {
      const text = attributeText(attributes, name)
      const position = text === undefined ? undefined : positions.get(text)
      if (position !== undefined && position < first) first = position
    }
    for (const { position, applies } of others) {
      if (position > first) break
      if (applies(attributes)) return position
    }
    return first === Infinity ? -1 : first
  }
}

interface ExactValues {
  readonly name: string
  readonly values: readonly string[]
}

/** The attribute and its values, when a condition is about exact values of one attribute. */
function exactValues(condition: Condition): ExactValues | undefined {
  const entries = Object.entries(condition)
  const [entry] = entries
  if (entry === undefined || entries.length > 1) return undefined
  const [name, pattern] = entry
  const values: string[] = []
  for (const one of Array.isArray(pattern) ? (pattern as readonly unknown[]) : [pattern]) {
    const meaning = meaningOf(name, one)
    if (typeof meaning === 'string' || meaning.kind !== 'equals') return undefined
    for (const text of spellingsOf(name, meaning)) values.push(text)
  }
  return { name, values }
}

/** The first override of a value keeps its place. */
function addTo(
  byAttribute: Map<string, Map<string, number>>,
  { name, values }: ExactValues,
  position: number,
): void {
  let positions = byAttribute.get(name)
  if (positions === undefined) byAttribute.set(name, (positions = new Map()))
  for (const value of values) if (!positions.has(value)) positions.set(value, position)
}

// The patterns and the exact texts that a condition names for an attribute.
import type { Condition, Pattern } from '../policy/policy.ts'

/** The patterns of an attribute, one by one. */
export function patternsIn(
  condition: Condition,
  attribute: string,
): readonly Exclude<Pattern, readonly unknown[]>[] {
  const pattern = Object.hasOwn(condition, attribute) ? condition[attribute] : undefined
  if (pattern === undefined) return []
  return Array.isArray(pattern) ? pattern : [pattern as Exclude<Pattern, readonly unknown[]>]
}

/** Whether a pattern holds for a request without the attribute. */
export function allowsAbsence(pattern: Pattern): boolean {
  return pattern === 'absent' || (Array.isArray(pattern) && pattern.includes('absent'))
}

/** The exact texts of an attribute. */
export function textsIn(condition: Condition, attribute: string): readonly string[] {
  return patternsIn(condition, attribute).flatMap((pattern) => {
    if (typeof pattern === 'object') return 'equals' in pattern ? [String(pattern.equals)] : []
    const text = String(pattern)
    return text === 'present' || text === 'absent' || text.endsWith('*') ? [] : [text]
  })
}

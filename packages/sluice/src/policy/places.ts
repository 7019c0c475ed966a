// Where the counts of a policy live, for those who look through a store.
import { limitsOf, placerFor } from './compile.ts'
import type { PlacedLimit } from '../limit/placed-limit.ts'
import type { Policy, Rule } from './policy.ts'

/**
 * One place where a rule counts, with the first of its limits that count there.
 *
 * @example
 * ```ts
 * const spaces = placesOf(policy).map((place: Place) => `${place.rule.name} ${place.space}`)
 * ```
 */
export interface Place extends PlacedLimit {
  readonly rule: Rule
}

/**
 * Every place where the rules of a parsed policy count: one for each rule, and one more for each of its tiers and
 * overrides that has another algorithm or window.
 *
 * @example
 * ```ts
 * for (const { rule, space } of placesOf(policy)) console.log(rule.name, space)
 * ```
 */
export function placesOf(policy: Policy): readonly Place[] {
  return policy.rules.flatMap((rule) => {
    const bySpace = new Map<string, Place>()
    const place = placerFor(policy.name, rule)
    for (const limit of limitsOf(rule)) {
      const placed = place(limit)
      if (!bySpace.has(placed.space)) bySpace.set(placed.space, { rule, ...placed })
    }
    return [...bySpace.values()]
  })
}

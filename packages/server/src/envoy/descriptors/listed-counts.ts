// The counts of one domain for operators: the places of its rules, and the way back from a key to its descriptor.
import type {
  CountedDomain,
  DescriptorCount,
  DescriptorPlace,
} from '../../limiters/counted-domains.ts'
import { valuesOfKey } from './count-key.ts'
import type { DescriptorTree } from './tree.ts'

/** A place with the keys of its descriptors. */
interface KeyedPlace extends DescriptorPlace {
  readonly keys: readonly string[]
  readonly rules: string[]
}

/** The places of a tree's limits, in the file's order. Rules of the same keys and unit share one. */
function placesOfTree({ rules }: DescriptorTree): ReadonlyMap<string, KeyedPlace> {
  const places = new Map<string, KeyedPlace>()
  for (const { placed, keys, path } of rules) {
    if (placed === null) continue
    const place = places.get(placed.space) ?? { space: placed.space, keys, rules: [] }
    place.rules.push(path)
    places.set(placed.space, place)
  }
  return places
}

/** A domain as operators see it; `match` makes the checks of its requests. */
export function listedCounts(
  name: string,
  tree: DescriptorTree,
  match: CountedDomain['match'],
): CountedDomain {
  const places = placesOfTree(tree)
  return {
    name,
    places: [...places.values()],
    match,
    countOf({ space }, key): DescriptorCount | undefined {
      const { keys } = places.get(space)!
      const values = key === undefined ? undefined : valuesOfKey(key, keys.length)
      if (key === undefined || values === undefined)
        return { rule: keys.join(', '), attributes: null, check: undefined }
      const entries = keys.map((name, i) => ({ key: name, value: values[i]! }))
      const rule = tree.match(entries)?.rule
      // A reload may have removed the rule, given it another unit, or none.
      if (rule?.placed?.space !== space) return undefined
      const attributes = Object.fromEntries(entries.map(({ key, value }) => [key, value]))
      const check = { space, key, limit: rule.placed.limit, cost: 1 }
      return { rule: rule.path, attributes, check }
    },
  }
}

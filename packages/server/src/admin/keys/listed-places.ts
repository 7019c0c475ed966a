// The places whose keys operators can list: those of policies, and those of the domains of descriptors.
import { placesOf, type Attributes, type Limit, type Policy } from 'sluice'
import type { CountedDomain } from '../../limiters/counted-domains.ts'
import type { FoundKey, KeyPlace } from '../../store/key-source.ts'
import { attributesOfKey, type CountState, type Inspectors } from './inspectors.ts'

/** A key and what it holds. */
export interface KeyEntry {
  /** The policy, or the domain of descriptors. */
  readonly policy: string
  readonly rule: string
  readonly key: string
  /** Null when the key holds only hashes of them. */
  readonly attributes: Attributes | null
  readonly limit: Limit | null
  readonly allowed: boolean | null
  readonly remaining: number | null
  readonly retryAfter: number | null
  readonly resetAfter: number | null
}

/** A place that can say what its keys hold. */
export interface ListedPlace extends KeyPlace {
  readonly policy: string
  readonly rules: readonly string[]
  /** Undefined for a key that is as good as new and only waits to be swept. */
  entryOf(found: Pick<FoundKey<KeyPlace>, 'key' | 'name'>): Promise<KeyEntry | undefined>
}

/** The places of policies, then those of domains. */
export function listedPlaces(
  policies: readonly Policy[],
  domains: readonly CountedDomain[],
  inspectors: Inspectors,
): readonly ListedPlace[] {
  return [
    ...policies.flatMap((policy) => placesOfPolicy(policy, inspectors)),
    ...domains.flatMap((domain) => placesOfDomain(domain, inspectors)),
  ]
}

function placesOfPolicy(policy: Policy, inspectors: Inspectors): readonly ListedPlace[] {
  return placesOf(policy).map((one) => {
    const place = { ...one, policy: policy.name }
    const rule = one.rule.name
    return {
      policy: policy.name,
      space: one.space,
      rules: [rule],
      entryOf: async ({ key, name }) => {
        const found = { place, key, name }
        const holding = await inspectors.look(policy, found)
        return entry(policy.name, rule, name, attributesOfKey(found), holding)
      },
    }
  })
}

function placesOfDomain(domain: CountedDomain, inspectors: Inspectors): readonly ListedPlace[] {
  return domain.places.map((place) => ({
    policy: domain.name,
    space: place.space,
    rules: place.rules,
    entryOf: async ({ key, name }) => {
      const count = domain.countOf(place, key)
      if (count === undefined) return undefined
      const { rule, attributes, check } = count
      const holding = check === undefined ? undefined : await inspectors.peek(check)
      return entry(domain.name, rule, name, attributes, holding)
    },
  }))
}

function entry(
  policy: string,
  rule: string,
  key: string,
  attributes: Attributes | null,
  holding: CountState | undefined,
): KeyEntry | undefined {
  if (holding?.resetAfter === 0) return undefined
  return {
    policy,
    rule,
    key,
    attributes,
    limit: holding?.limit ?? null,
    allowed: holding?.allowed ?? null,
    remaining: holding?.remaining ?? null,
    retryAfter: holding?.retryAfter ?? null,
    resetAfter: holding?.resetAfter ?? null,
  }
}

// From the descriptors of a request to checks, by the rules of a policy: the entries are the attributes.
import { matchPolicy, type Policy, type PolicyMatcher } from 'sluice'
import type { RateLimitRequest } from '../wire/request.ts'
import { attributesOf, hitsOf, type DescriptorChecks } from './descriptor-checks.ts'
import { BadRequest, type DescriptorMatcher } from './domain.ts'

/** Matches descriptors by the rules of a policy. */
export function matcherOfPolicy(policy: Policy): DescriptorMatcher {
  const match: PolicyMatcher = matchPolicy(policy)
  return {
    match: ({ descriptors, hits }: RateLimitRequest): readonly DescriptorChecks[] =>
      descriptors.map((descriptor) => {
        if (descriptor.limit !== undefined)
          throw new BadRequest(
            'a descriptor sets a limit of its own; accepted: in domains of descriptors, not in policies',
          )
        const { use, cost } = hitsOf(descriptor, hits)
        const attributes = attributesOf(descriptor)
        const { checks, skipped } = match(attributes, cost)
        const described = checks.map((check) => ({ ...check, attributes }))
        return { use, attributes, checks: described, skipped, isUnlimited: false }
      }),
  }
}

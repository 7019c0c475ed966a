// Metadata for proxies that choose another way for requests over a quota.
import type { DescriptorRule } from '../descriptors/rule.ts'
import type { RateLimitRequest } from '../wire/request.ts'
import type { Json } from '../wire/struct.ts'
import type { DescriptorAnswer } from './descriptor-answer.ts'

/** Which descriptors are over their quota, by their place in the request; undefined when no rule is in quota mode. */
export function quotaMetadata(
  request: RateLimitRequest,
  answers: readonly DescriptorAnswer[],
  rules: readonly (DescriptorRule | undefined)[],
): { readonly [name: string]: Json } | undefined {
  if (!rules.some((rule) => rule?.quotaMode === true)) return undefined
  const over = answers.flatMap((answer, i) =>
    rules[i]?.quotaMode === true && answer.isOver ? [i] : [],
  )
  return {
    domain: request.domain,
    descriptors: request.descriptors.map(({ entries }) => ({
      entries: entries.map(({ key, value }) => `${key}=${value}`),
    })),
    quotaModeEnabled: true,
    ...(over.length > 0 && { quotaModeViolations: over }),
  }
}

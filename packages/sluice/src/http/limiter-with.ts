// A limiter for guards that decides in another way by the same policy, such as one that reserves or enters.
import { policyOfLimiter, rememberPolicy } from '../limiter/policy-of-limiter.ts'
import type { Decision } from '../decision/decision.ts'
import type { Attributes } from '../policy/policy.ts'
import type { MaybePromise } from '../stores/store.ts'
import type { AnyLimiter } from './options.ts'

/**
 * A limiter whose `check` is another function. Guards read the attributes and write the header fields that the
 * policy of the given limiter needs.
 *
 * @example
 * ```ts
 * const entering = limiterWith(limiter, async (attributes) => (await budget.enter(attributes)).decision)
 * ```
 */
export function limiterWith<L extends AnyLimiter>(
  limiter: L,
  check: (attributes: Attributes | string, cost?: number) => MaybePromise<Decision>,
): L {
  const wrapper = Object.assign(Object.create(limiter) as L, { check })
  const limiterPolicy = policyOfLimiter(limiter)
  if (limiterPolicy !== undefined) rememberPolicy(wrapper, limiterPolicy)
  return wrapper
}

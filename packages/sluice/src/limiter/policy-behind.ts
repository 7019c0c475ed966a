// Which policy a limiter decides by, for those who want to ask for no more than its rules need.
import type { Policy } from '../policy/policy.ts'

const policies = new WeakMap<object, Policy>()

/** Remembers the parsed policy of a limiter, or of a wrapper around one. */
export function rememberPolicy(limiter: object, policy: Policy): void {
  policies.set(limiter, policy)
}

/** The parsed policy of a limiter; undefined when somebody else made it. */
export function policyBehind(limiter: object): Policy | undefined {
  return policies.get(limiter)
}

// Which policy a limiter decides by, so that adapters read only the attributes that its rules use.
import type { PolicyInCode } from '../policy/policy.ts'

const policies = new WeakMap<object, PolicyInCode>()

/** Remembers the parsed policy of a limiter, or of a wrapper around one. */
export function rememberPolicy(limiter: object, policy: PolicyInCode): void {
  policies.set(limiter, policy)
}

/** The parsed policy of a limiter; undefined for limiters of other makers. */
export function policyBehind(limiter: object): PolicyInCode | undefined {
  return policies.get(limiter)
}

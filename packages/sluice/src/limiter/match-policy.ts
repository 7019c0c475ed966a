// The checks of a policy for callers that decide several sets of attributes as one request.
import type { DecisionRequest } from '../decision/decide.ts'
import { show, SluiceError } from '../errors.ts'
import { compilePolicy } from '../policy/compile.ts'
import { parsePolicyInCode } from '../policy/parse.ts'
import type { Attributes, PolicyInCode } from '../policy/policy.ts'
import { requireCost, matchRules } from './match-rules.ts'

/**
 * Finds the rules of a policy that apply to some attributes, and makes their checks.
 *
 * @example
 * ```ts
 * const match: PolicyMatcher = matchPolicy(policy)
 * const { checks } = match({ user: '42' })
 * ```
 */
export type PolicyMatcher = (attributes: Attributes, cost?: number) => DecisionRequest

/**
 * Makes the matcher of a policy. Its checks live where those of a limiter with the same policy do. Several requests
 * become one by joining their lists; {@link decide} then charges all of their checks, or none.
 *
 * @example
 * ```ts
 * const match = matchPolicy(policy)
 * const decision = await decide(match({ user: '42' }), { store })
 * ```
 */
export function matchPolicy(policy: PolicyInCode): PolicyMatcher {
  const parsed = parsePolicyInCode(policy)
  const several = parsed.rules.find(({ lockout, pools }) => (lockout ?? pools) !== undefined)
  if (several !== undefined)
    throw new SluiceError(
      'invalid-option',
      `matchPolicy: the rule ${show(several.name)} has a lockout or pools, which only a limiter decides; accepted: createLimiter({ policy })`,
    )
  const rules = compilePolicy(parsed)
  return (attributes, cost = 1) => {
    requireCost('cost', cost)
    return matchRules(rules, attributes, cost, false)
  }
}

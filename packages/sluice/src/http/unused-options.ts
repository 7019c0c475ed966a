// Options that say who a caller is and that the limiter never reads: it counts by something else than the options suggest.
import { blockedByOf, type LimiterPolicy } from '../limiter/policy-of-limiter.ts'
import type { PolicyInCode } from '../policy/policy.ts'
import { attributeNames, hasLimitFunction } from './attribute-names.ts'
import { wrong, type HttpOptions } from './options.ts'

/** The options that say who a caller is, whatever their functions are. */
type IdentityOptions = {
  readonly [
    N in 'user' | 'apiKey' | 'tenant' | 'plan' | 'key' | ('attributes' & keyof HttpOptions<unknown>)
  ]?: unknown
}

/** Throws `invalid-option` for options that nothing reads, where nothing can be set later that would. */
export function refuseUnused(
  policy: PolicyInCode | undefined,
  options: IdentityOptions,
  limiter: object,
): void {
  if (policy === undefined || blockedByOf(limiter) !== undefined) return
  const [first] = unusedOptions(policy, options)
  if (first !== undefined) throw wrong(first)
}

/** What the options of a limiter say that it reads only for blocks and overrides, in words. */
export function unusedBeside(
  { policy, blockedBy }: LimiterPolicy,
  options: IdentityOptions,
): readonly string[] {
  return blockedBy === undefined ? unusedOptions(policy, options) : []
}

function unusedOptions(policy: PolicyInCode, options: IdentityOptions): readonly string[] {
  // A function that chooses the limit may read any attribute.
  if (hasLimitFunction(policy)) return []
  if (!isBareLimit(policy)) {
    if (options.key === undefined || attributeNames(policy).has('key')) return []
    return ["key is given, and no rule of the policy counts by key; write by: ['key'] in a rule"]
  }
  const named = (['tenant', 'plan', 'attributes'] as const)
    .filter((name) => options[name] !== undefined)
    .map(
      (name) =>
        `${name} is given beside a bare limit, which counts by user, apiKey or the address and does not read it; write key: (request) => … to count by it, or a policy whose rules name it`,
    )
  const hidden = (['user', 'apiKey'] as const)
    .filter((name) => options.key !== undefined && options[name] !== undefined)
    .map(
      (name) =>
        `${name} is given beside key, which a bare limit counts by alone; remove one of the two`,
    )
  return [...named, ...hidden]
}

/** Whether the policy is one limit for a key and nothing else, as `createLimiter({ limit })` makes it. */
export function isBareLimit({ rules }: PolicyInCode): boolean {
  const [rule] = rules
  return (
    rules.length === 1 &&
    rule!.by.length === 1 &&
    rule!.by[0] === 'key' &&
    attributeNames({ rules }).size === 1
  )
}

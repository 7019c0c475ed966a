// The working model of tiers as a policy: plain data, to use as it is or to begin from.
import { limit, type Limit, type LimitInput } from '../limit/limit.ts'
import type { LimitOrNone, Policy, Rule } from '../policy/policy.ts'

/**
 * The numbers of {@link tieredPolicy}.
 *
 * @example
 * ```ts
 * tieredPolicy({ perUser: '100/min', plans: { pro: '1000/min' }, perAnonymousAddress: '20/min' })
 * ```
 */
export interface TieredLimits {
  /** Default: `api`. */
  readonly name?: string
  /** For each user that is known: generous. */
  readonly perUser: LimitInput
  /** Other limits per user, by the attribute `plan`. */
  readonly plans?: Readonly<Record<string, LimitOrNone>>
  /** For each address without a known user: tight. */
  readonly perAnonymousAddress: LimitInput
  /** For each address, whatever its users: a wide net. Default: ten times `perUser`. */
  readonly perAddress?: LimitInput
  /** For attempts to log in, by the attribute `account` and by address. */
  readonly login?: { readonly perAccount: LimitInput; readonly perAddress: LimitInput }
}

/**
 * Limits by user, by address for everybody else, a wide net around both, and logins by account and by address.
 *
 * The attribute `stage` names the guard that checks: `arrival` before authentication (the net alone), `identity`
 * after it, `login` at the login route. A guard without a stage checks all but the login rules at once.
 *
 * @example
 * ```ts
 * const policy = tieredPolicy({ perUser: '100/min', perAnonymousAddress: '10/min' })
 * ```
 */
export function tieredPolicy(limits: TieredLimits): Policy {
  const {
    name = 'api',
    perUser,
    plans,
    perAnonymousAddress,
    perAddress = tenfold(perUser),
    login,
  } = limits
  const identity = { stage: ['absent', 'identity'] }
  const rules: Rule[] = [
    { name: 'address', when: { stage: ['absent', 'arrival'] }, by: ['ip'], limit: perAddress },
    {
      name: 'user',
      when: identity,
      by: ['user'],
      limit: perUser,
      ...(plans === undefined ? {} : { tiers: { attribute: 'plan', limits: plans } }),
    },
    {
      name: 'anonymous',
      when: { ...identity, user: 'absent' },
      by: ['ip'],
      limit: perAnonymousAddress,
    },
  ]
  if (login !== undefined) {
    const when = { stage: 'login' }
    rules.push(
      { name: 'login-account', when, by: ['account'], limit: login.perAccount },
      { name: 'login-address', when, by: ['ip'], limit: login.perAddress },
    )
  }
  return { name, rules }
}

function tenfold(input: LimitInput): Limit {
  const { algorithm, quota, window, burst } = limit(input)
  return { algorithm, quota: 10 * quota, window, burst: 10 * burst }
}

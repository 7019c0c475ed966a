// The protection of logins as a policy: plain data, to use as it is or to begin from.
import type { LimitInput } from '../limit/limit.ts'
import type { Policy, Rule } from '../policy/policy.ts'
import { isPromise, type MaybePromise } from '../stores/store.ts'
import type { Duration } from '../time/duration.ts'
import type { Limiter, SyncLimiter } from '../limiter/limiter.ts'

/**
 * The numbers of {@link loginPolicy}. All of them count failures, if successes are given back.
 *
 * @example
 * ```ts
 * loginPolicy({ perAccount: '5/15min', perAddress: '10/15min' })
 * ```
 */
export interface LoginLimits {
  /** Default: `login`. */
  readonly name?: string
  /** For each account, tried from addresses that have not lately succeeded. Default: `5/15min`. */
  readonly perAccount?: LimitInput
  /** For each address that has not lately succeeded. Default: `10/15min`. */
  readonly perAddress?: LimitInput
  /** For all addresses together that have not lately succeeded. Default: `300/min`. */
  readonly strangers?: LimitInput
  /** For each account, tried from addresses that have. Strangers cannot use it up. Default: `10/15min`. */
  readonly perAccountProven?: LimitInput
  /** For each address that has: many people may share it. Default: `100/15min`. */
  readonly perAddressProven?: LimitInput
  /** How long an address counts as proven after a successful login: between half of this and all of it. Default: `30d`. */
  readonly proof?: Duration
}

/**
 * The units of a proof: an address counts as proven while one of them is missing. Each is back after half of the window,
 * and with two of them a new success can take one before the last one is back.
 */
const PROOF_UNITS = 2

/**
 * Limits failed logins by the attributes `account` and `ip`, and those of all strangers together: addresses
 * from which no login has succeeded lately, for which the attribute `proven` is absent. Give units back on success.
 *
 * @example
 * ```ts
 * const limiter = createLimiter({ policy: loginPolicy({ perAccount: '5/15min' }) })
 * ```
 */
export function loginPolicy(limits: LoginLimits = {}): Policy {
  const whenNotProven = { stage: 'absent', proven: 'absent' }
  const whenProven = { stage: 'absent', proven: 'present' }
  const rules: Rule[] = [
    {
      name: 'account',
      when: whenNotProven,
      by: ['account'],
      limit: limits.perAccount ?? '5/15min',
    },
    { name: 'address', when: whenNotProven, by: ['ip'], limit: limits.perAddress ?? '10/15min' },
    // Hidden: no single caller should see how much is left for all of them.
    {
      name: 'strangers',
      when: whenNotProven,
      by: [],
      limit: limits.strangers ?? '300/min',
      hidden: true,
    },
    {
      name: 'proven-account',
      when: whenProven,
      by: ['account'],
      limit: limits.perAccountProven ?? '10/15min',
    },
    {
      name: 'proven-address',
      when: whenProven,
      by: ['ip'],
      limit: limits.perAddressProven ?? '100/15min',
    },
    {
      name: 'proof',
      when: { stage: 'proof' },
      by: ['ip'],
      limit: { quota: PROOF_UNITS, window: limits.proof ?? '30d', burst: PROOF_UNITS },
    },
  ]
  return { name: limits.name ?? 'login', rules }
}

type Checks = Pick<Limiter, 'check' | 'peek'> | Pick<SyncLimiter, 'check' | 'peek'>

/**
 * Remembers a successful login from an address, in the store of a limiter on {@link loginPolicy}. Where the
 * address is not known nothing is remembered: it would vouch for every unknown address.
 *
 * @example
 * ```ts
 * await prove(limiter, '192.0.2.1')
 * ```
 */
export function prove(limiter: Checks, ip: string | undefined): MaybePromise<unknown> {
  return ip === undefined ? undefined : limiter.check({ stage: 'proof', ip })
}

/**
 * Whether a login from an address succeeded lately: true or undefined, for the attribute `proven`.
 *
 * @example
 * ```ts
 * const proven = await isProven(limiter, '192.0.2.1')
 * limiter.check({ account: 'ann', ip: '192.0.2.1', proven })
 * ```
 */
export function isProven(limiter: Checks, ip: string | undefined): MaybePromise<true | undefined> {
  if (ip === undefined) return undefined
  const decision = limiter.peek({ stage: 'proof', ip })
  const answer = ({ remaining }: { remaining: number }): true | undefined =>
    remaining < PROOF_UNITS || undefined
  return isPromise(decision) ? decision.then(answer) : answer(decision)
}

// Policies as plain data: the fields of a rule.
import type { LimitInput } from '../limit/limit.ts'
import type { Coordination, OnStoreFailure } from '../limit/verdict.ts'
import type { Duration } from '../time/duration.ts'

/**
 * What is known of one request. Nothing, null and '' all mean: not known.
 *
 * @example
 * ```ts
 * const attributes: Attributes = { user: '42', plan: 'pro', ip: '203.0.113.7' }
 * ```
 */
export type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>

/**
 * What an attribute must be: `'present'`, `'absent'`, a string, a string that ends in `*` (a prefix), for
 * the attributes `ip` and `network` a network such as `10.0.0.0/8`, or a list of which one must hold. The object
 * forms say the same without guessing: `{ equals }` takes its text literally, `{ network }` works for
 * any attribute.
 *
 * @example
 * ```ts
 * const patterns: Pattern[] = ['present', '/exports/*', ['GET', 'HEAD'], { network: '10.0.0.0/8' }]
 * ```
 */
export type Pattern =
  | string
  | number
  | boolean
  | PatternObject
  | readonly (string | number | boolean | PatternObject)[]

/**
 * A pattern that names its kind.
 *
 * @example
 * ```ts
 * const literal: PatternObject = { equals: 'present' } // the text, not the word for "any value"
 * ```
 */
export type PatternObject =
  | { readonly equals: string | number | boolean }
  | { readonly network: string }

/**
 * Attributes by name and what each must be; all must hold.
 *
 * @example
 * ```ts
 * const when: Condition = { plan: 'free', route: '/exports/*', user: 'present' }
 * ```
 */
export type Condition = Readonly<Record<string, Pattern>>

/**
 * A limit, or none at all.
 *
 * @example
 * ```ts
 * const limits: Record<string, LimitOrNone> = { free: '100/min', internal: 'unlimited' }
 * ```
 */
export type LimitOrNone = LimitInput | 'unlimited'

/**
 * Chooses the limit of a request in code, after overrides and tiers. It must answer at once, and the same for the same
 * attributes. Each distinct value is checked once; an invalid one makes `check` throw `invalid-limit`.
 *
 * @example
 * ```ts
 * const byPlan: LimitFunction = ({ plan }) => (plan === 'pro' ? '1000/min' : '100/min')
 * createLimiter({ limit: byPlan })
 * ```
 */
export type LimitFunction = (attributes: Attributes) => LimitOrNone

/**
 * The limit chosen by an attribute, such as `plan`. Values that are not listed get the rule's own limit.
 *
 * @example
 * ```ts
 * const tiers: Tiers = { attribute: 'plan', limits: { free: '100/min', pro: '1000/min' } }
 * ```
 */
export interface Tiers {
  readonly attribute: string
  readonly limits: Readonly<Record<string, LimitOrNone>>
}

/**
 * Another limit for some keys. The first override that matches wins, before the tiers.
 *
 * @example
 * ```ts
 * const override: Override = { when: { user: '42' }, limit: '5000/min' }
 * ```
 */
export interface Override {
  readonly when: Condition
  readonly limit: LimitOrNone
}

/**
 * Shuts a key of a rule for a time after many refusals.
 *
 * @example
 * ```ts
 * const lockout: Lockout = { after: 10, for: '15min' }
 * ```
 */
export interface Lockout {
  /** Refusals by the rule that lead to a lock. */
  readonly after: number
  /** How long the first lock lasts. */
  readonly for: Duration
  /** How much longer each lock is than the one before, as a whole factor. Default 1. */
  readonly grow?: number
  /** The longest lock. Default: a day if locks grow, but never shorter than `for`. */
  readonly upTo?: Duration
  /** The time within which refusals count together. Default: the window of the rule's limit. */
  readonly within?: Duration
}

/**
 * What a rule does with a request over its limit.
 *
 * @example
 * ```ts
 * const rule: Rule = { name: 'soft', by: ['user'], limit: '100/min', onExceed: 'mark' }
 * ```
 */
export type OnExceed = 'refuse' | 'mark'

/**
 * One rule: its condition, its key, and its limit.
 *
 * @example
 * ```ts
 * const rule: Rule = { name: 'exports', when: { route: '/exports' }, by: ['user'], limit: '5/h' }
 * ```
 */
export interface Rule {
  readonly name: string
  /** The rule applies only when all of it holds. Default: always. */
  readonly when?: Condition
  /** The attributes that make the key; [] is one count for everybody. The rule is skipped when one is not known. */
  readonly by: readonly string[]
  readonly limit: LimitInput
  /**
   * A limit on trial next to the rule's own: decided on the same requests at the same instant, in counts of its own,
   * never enforced. Requests under a tier or an override keep theirs and do not try it.
   */
  readonly candidate?: LimitInput
  readonly tiers?: Tiers
  readonly overrides?: readonly Override[]
  /** Units per request: a number, or the name of the attribute that holds it. Default: the cost of the call. */
  readonly cost?: number | string
  /** Counted, never enforced. */
  readonly shadow?: boolean
  readonly onStoreFailure?: OnStoreFailure
  /** How the processes of a fleet share the counts. Default `strict`. */
  readonly coordination?: Coordination
  /** Refused requests are charged too, so that hammering keeps a key shut. */
  readonly countRefused?: boolean
  /** What the rule does with a request over its limit: refuse it (default), or let it pass and mark the decision. */
  readonly onExceed?: OnExceed
  /** Shuts a key for a time after many refusals. */
  readonly lockout?: Lockout
  /** What a request draws from when the limit has no room for it: the first pool that has room pays all of it. */
  readonly pools?: readonly Pool[]
  /** Percent of the quota at which an event says that a key has used so much, such as [80, 100]. */
  readonly thresholds?: readonly number[]
  /** Not shown in response headers. */
  readonly hidden?: boolean
  /**
   * Units that are reserved, and slots, come free after so long unless they are settled. Makes the rule a budget. Default
   * with `true`, `concurrency` or a field of budgets: 60 s.
   */
  readonly hold?: Duration | true
  /** Of a budget: by how many units a settlement may exceed the limit; true: by as many as the limit has. Default: none. */
  readonly debt?: boolean | number
  /** Of a budget: the largest part of the limit that one reservation, and one caller, holds, above 0 and at most 1. Default 0.5. */
  readonly holdShare?: number
  /** Of a budget: what one token of each kind costs. Default 1. */
  readonly weights?: TokenWeights
  /** Requests at once, each in a slot that ends after `hold`; replaces `limit`. */
  readonly concurrency?: number
}

/**
 * A pool used when the limit of a rule has no room, such as credits that were bought. It counts by the attributes of the rule.
 *
 * @example
 * ```ts
 * const pool: Pool = { name: 'credits', limit: '5000/30d' }
 * ```
 */
export interface Pool {
  readonly name: string
  readonly limit: LimitInput
}

/** What one token of each kind costs, in units; the sum is rounded up. */
export interface TokenWeights {
  readonly input?: number
  readonly cached?: number
  readonly output?: number
}

/**
 * A named set of rules; a request must pass all that apply.
 *
 * @example
 * ```ts
 * const policy: Policy = {
 *   name: 'api',
 *   rules: [{ name: 'per-user', by: ['user'], limit: '100/min' }],
 * }
 * ```
 */
export interface Policy {
  readonly name: string
  readonly rules: readonly Rule[]
}

/**
 * A {@link Rule} in code, where a function may choose the limit.
 *
 * @example
 * ```ts
 * const rule: RuleInCode = {
 *   name: 'per-user',
 *   by: ['user'],
 *   limit: ({ plan }) => (plan === 'pro' ? '1000/min' : '100/min'),
 * }
 * ```
 */
export interface RuleInCode extends Omit<Rule, 'limit'> {
  readonly limit: LimitInput | LimitFunction
}

/**
 * A {@link Policy} in code, for `createLimiter`.
 *
 * @example
 * ```ts
 * const policy: PolicyInCode = {
 *   name: 'api',
 *   rules: [{ name: 'per-user', by: ['user'], limit: ({ plan }) => (plan === 'pro' ? '9/s' : '1/s') }],
 * }
 * ```
 */
export interface PolicyInCode {
  readonly name: string
  readonly rules: readonly RuleInCode[]
}

// Policies whose attribute names the compiler knows, so that a misspelled name does not compile.
import { parsePolicy } from './parse.ts'
import type { Attributes, Override, Pattern, Policy, Rule, Tiers } from './policy.ts'

/**
 * Attributes of a request, by known names.
 *
 * @example
 * ```ts
 * const attributes: AttributesNamed<'user' | 'plan'> = { user: '42', plan: 'pro' }
 * ```
 */
export type AttributesNamed<A extends string> = { readonly [K in A]?: Attributes[string] }

/**
 * Conditions on attributes with known names.
 *
 * @example
 * ```ts
 * const when: ConditionOn<'plan' | 'route'> = { plan: ['free', 'pro'], route: '/api/*' }
 * ```
 */
export type ConditionOn<A extends string> = { readonly [K in A]?: Pattern }

/**
 * A {@link Rule} whose attribute names are known.
 *
 * @example
 * ```ts
 * const rule: TypedRule<'user' | 'plan'> = { name: 'per-user', by: ['user'], limit: '100/min' }
 * ```
 */
export interface TypedRule<A extends string> extends Omit<
  Rule,
  'by' | 'when' | 'tiers' | 'overrides' | 'cost'
> {
  readonly by: readonly A[]
  readonly when?: ConditionOn<A>
  readonly tiers?: Tiers & { readonly attribute: A }
  readonly overrides?: readonly (Omit<Override, 'when'> & { readonly when: ConditionOn<A> })[]
  readonly cost?: number | A
}

/** Carries attribute names in a type; has no value. */
declare const NAMED_ATTRIBUTES: unique symbol

/**
 * A {@link Policy} whose attribute names the compiler knows.
 *
 * @example
 * ```ts
 * const api: TypedPolicy<'user'> = definePolicy(['user'], {
 *   name: 'api',
 *   rules: [{ name: 'per-user', by: ['user'], limit: '100/min' }],
 * })
 * ```
 */
export interface TypedPolicy<A extends string = string> extends Policy {
  readonly [NAMED_ATTRIBUTES]: A
}

/**
 * Checks a policy and gives it the names of its attributes. A rule or a call of `check` with another name does not
 * compile.
 *
 * @example
 * ```ts
 * const policy = definePolicy(['user', 'plan'], {
 *   name: 'api',
 *   rules: [{ name: 'per-user', by: ['user'], limit: '100/min' }],
 * })
 * createLimiter({ policy }).check({ user: '42' })
 * ```
 */
export function definePolicy<const N extends readonly string[]>(
  _names: N,
  policy: { readonly name: string; readonly rules: readonly TypedRule<N[number]>[] },
): TypedPolicy<N[number]> {
  return parsePolicy(policy as Policy) as TypedPolicy<N[number]>
}

// Limiters for operators: they read and change counts rule by rule, beside the limiters that decide requests.
import {
  createLimiter,
  valuesIn,
  type Attributes,
  type Check,
  type Outcome,
  type Place,
  type Policy,
  type Rule,
  type Store,
  type Verdict,
} from 'sluice'
import type { ServiceLimiter } from '../../limiters/limiters.ts'
import type { FoundKey } from '../../store/key-source.ts'

/** A place with the policy that counts there. */
export interface PolicyPlace extends Place {
  readonly policy: string
}

/** The state of one count. */
export type CountState = Verdict & Pick<Outcome, 'limit'>

/** Reads the store itself, without fallback, blocks or metrics. */
export class Inspectors {
  private readonly store: Store
  private readonly made = new WeakMap<Policy, Map<string, ServiceLimiter>>()

  constructor(store: Store) {
    this.store = store
  }

  /** A limiter by all rules of a policy, or by one; costs are what the caller says. */
  of(policy: Policy, rule?: Rule): ServiceLimiter {
    const limiters = this.limitersOf(policy)
    const id = rule === undefined ? '' : `=${rule.name}`
    let limiter = limiters.get(id)
    if (limiter === undefined) {
      const rules = rule === undefined ? policy.rules.map(plain) : [alone(rule)]
      limiter = this.limiterOf({ name: policy.name, rules })
      limiters.set(id, limiter)
    }
    return limiter
  }

  /** A limiter by one rule, for requests of which some attributes of its condition are not known. */
  without(policy: Policy, rule: Rule, missing: readonly string[]): ServiceLimiter {
    const limiters = this.limitersOf(policy)
    const id = `-${JSON.stringify([rule.name, missing])}`
    const when = Object.entries(rule.when ?? {}).filter(([name]) => !missing.includes(name))
    const made =
      limiters.get(id) ??
      this.limiterOf({
        name: policy.name,
        rules: [{ ...plain(rule), when: Object.fromEntries(when) }],
      })
    limiters.set(id, made)
    return made
  }

  /**
   * What a found key holds. By the limit that the rule has for it, as far as its attributes tell; a tier that hangs
   * on another attribute cannot be known.
   */
  async look(policy: Policy, found: FoundKey<PolicyPlace>): Promise<CountState | undefined> {
    const { place, key } = found
    if (key === undefined) return undefined
    const attributes = attributesOfKey(found)
    if (attributes !== null) {
      const { outcomes } = await this.of(policy, place.rule).peek(attributes)
      const [outcome] = outcomes
      // The rule may choose a limit that counts elsewhere.
      const { window, algorithm } = place.limit
      if (outcome?.limit.window === window && outcome.limit.algorithm === algorithm) return outcome
    }
    const { space, limit } = place
    return this.peek({ space, key, limit, cost: 1 })
  }

  /** What the count of a check holds. */
  async peek(check: Check): Promise<CountState> {
    const { limit } = check
    const [verdict] = await this.store.peek([check])
    // Not by spreading: its numbers are worked out when they are read.
    const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at } = verdict!
    const { source } = verdict!
    return { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source, limit }
  }

  private limitersOf(policy: Policy): Map<string, ServiceLimiter> {
    const limiters = this.made.get(policy) ?? new Map<string, ServiceLimiter>()
    this.made.set(policy, limiters)
    return limiters
  }

  private limiterOf(policy: Policy): ServiceLimiter {
    const { store } = this
    return store.sync === true
      ? createLimiter({ policy, store })
      : createLimiter({ policy, store, resilience: false })
  }
}

/** The attributes of a key; null when it holds no more than their hashes. */
export function attributesOfKey({ place, key }: FoundKey<PolicyPlace>): Attributes | null {
  const { by } = place.rule
  const values = key === undefined ? undefined : by.length === 0 ? [] : valuesIn(key)
  if (values === undefined || values.length !== by.length) return null
  if (values.some((value) => value.startsWith('~'))) return null
  return Object.fromEntries(by.map((name, i) => [name, values[i]!]))
}

function plain(rule: Rule): Rule {
  const { cost: _, ...rest } = rule
  return rest
}

/** The rule without its condition, so that it applies to any request with its attributes. */
function alone(rule: Rule): Rule {
  const { when: _, ...always } = plain(rule)
  return always
}

// Holds the limiters in force and swaps them all at once.
import { isDeepStrictEqual } from 'node:util'
import type { Policy } from 'sluice'
import type { Limiters, LimiterSource, ServiceLimiter } from './limiters.ts'

/** Makes the limiter of one policy; all of them share one store, so that counts outlive a reload. */
export type MakeLimiter = (policy: Policy) => ServiceLimiter

/** Applies the operators' overrides to the policies of the file before they are put in force. */
export type AdjustPolicies = (policies: readonly Policy[]) => readonly Policy[]

/** The number of the next state, given that of the last; 0 before the first. */
export type NextGeneration = (last: number) => number

/**
 * The one place where limiters change. `swap` makes every new limiter before any of them is seen: when one cannot
 * be made it throws and nothing has changed. A policy that is the same as before keeps its limiter. A limiter holds
 * nothing but its compiled policy (counts, breaker and fallback belong to the store), so one that was replaced need
 * not be closed: requests that began with it finish, and then nothing refers to it.
 */
export class LimiterRegistry implements LimiterSource {
  private readonly make: MakeLimiter
  private readonly adjust: AdjustPolicies
  private readonly generation: NextGeneration
  /** As the file has them. */
  private written: readonly Policy[]
  current: Limiters
  /** Called with the policies in force whenever they have changed. */
  onChange: (policies: readonly Policy[]) => void = () => {}

  constructor(
    policies: readonly Policy[],
    make: MakeLimiter,
    adjust: AdjustPolicies = (policies) => policies,
    generation: NextGeneration = (last) => last + 1,
  ) {
    this.make = make
    this.adjust = adjust
    this.generation = generation
    this.written = policies
    this.current = limitersOf(adjust(policies), make, generation(0))
  }

  /** Puts other policies in force. Requests that have begun finish under the old ones. */
  swap(policies: readonly Policy[]): Limiters {
    const limiters = this.enforce(this.adjust(policies))
    this.written = policies
    return limiters
  }

  /** Re-applies the operators' overrides. */
  refresh(): void {
    const policies = this.adjust(this.written)
    if (!isDeepStrictEqual(policies, this.current.policies)) this.enforce(policies)
  }

  private enforce(policies: readonly Policy[]): Limiters {
    const old = this.current
    const makeOrKeep = (policy: Policy): ServiceLimiter => {
      const same = old.policies.find(({ name }) => name === policy.name)
      const kept = isDeepStrictEqual(same, policy) ? old.byName.get(policy.name) : undefined
      return kept ?? this.make(policy)
    }
    this.current = limitersOf(policies, makeOrKeep, this.generation(old.generation))
    this.onChange(policies)
    return this.current
  }

  /** Closes the limiters in force. The store is not theirs and stays open. */
  async close(): Promise<void> {
    const limiters = [...this.current.byName.values()]
    await Promise.all(limiters.map(async (limiter) => limiter.close()))
  }
}

function limitersOf(policies: readonly Policy[], make: MakeLimiter, generation: number): Limiters {
  const byName = new Map(policies.map((policy) => [policy.name, make(policy)]))
  const only = policies.length === 1 ? policies[0]!.name : undefined
  return { generation, policies, byName, only }
}

// Holds the limiters in force and swaps them all at once.
import type { Policy } from 'sluice'
import type { Limiters, LimiterSource, ServiceLimiter } from './limiters.ts'

/** Makes the limiter of one policy; all of them share one store, so that counts outlive a reload. */
export type MakeLimiter = (policy: Policy) => ServiceLimiter

/**
 * The one place where limiters change. `swap` makes every new limiter before any of them is seen: when one cannot
 * be made it throws and nothing has changed.
 */
export class LimiterRegistry implements LimiterSource {
  private readonly make: MakeLimiter
  private limiters: Limiters

  constructor(policies: readonly Policy[], make: MakeLimiter) {
    this.make = make
    this.limiters = limitersOf(policies, make, 1)
  }

  get current(): Limiters {
    return this.limiters
  }

  /** Puts other policies in force. Requests that have begun finish under the old ones. */
  swap(policies: readonly Policy[]): Limiters {
    this.limiters = limitersOf(policies, this.make, this.limiters.generation + 1)
    return this.limiters
  }
}

function limitersOf(policies: readonly Policy[], make: MakeLimiter, generation: number): Limiters {
  // A map, since the names that are looked up come from requests.
  const byName = new Map(policies.map((policy) => [policy.name, make(policy)]))
  const names = Object.freeze([...byName.keys()])
  return {
    generation,
    policies,
    get: (policy) => byName.get(policy),
    only: names.length === 1 ? names[0] : undefined,
    names: () => names,
  }
}

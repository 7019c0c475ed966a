// Holds the limiters in force and swaps them all at once.
import { isDeepStrictEqual } from 'node:util'
import type { Policy } from 'sluice'
import type { Limiters, LimiterSource, ServiceLimiter } from './limiters.ts'

/** Makes the limiter of one policy; all of them share one store, so that counts outlive a reload. */
export type MakeLimiter = (policy: Policy) => ServiceLimiter

/** What is laid over the policies of the file before they are put in force. */
export type Adjust = (policies: readonly Policy[]) => readonly Policy[]

/** The number of the next state, given that of the last; 0 before the first. */
export type NextGeneration = (last: number) => number

/** How long a limiter that was replaced stays open for requests that have begun with it, in milliseconds. */
const AFTERLIFE = 10_000

/**
 * The one place where limiters change. `swap` makes every new limiter before any of them is seen: when one cannot
 * be made it throws and nothing has changed. A policy that is the same as before keeps its limiter, and with it
 * what that knows of a store that is away.
 */
export class LimiterRegistry implements LimiterSource {
  private readonly make: MakeLimiter
  private readonly adjust: Adjust
  private readonly generation: NextGeneration
  /** As the file has them. */
  private written: readonly Policy[]
  private limiters: Limiters
  /** Limiters that were replaced and are not closed yet, each with the timer that will close it. */
  private readonly replaced = new Map<ServiceLimiter, NodeJS.Timeout>()

  constructor(
    policies: readonly Policy[],
    make: MakeLimiter,
    adjust: Adjust = (policies) => policies,
    generation: NextGeneration = (last) => last + 1,
  ) {
    this.make = make
    this.adjust = adjust
    this.generation = generation
    this.written = policies
    this.limiters = limitersOf(adjust(policies), make, generation(0))
  }

  get current(): Limiters {
    return this.limiters
  }

  /** Puts other policies in force. Requests that have begun finish under the old ones. */
  swap(policies: readonly Policy[]): Limiters {
    const limiters = this.enforce(this.adjust(policies))
    this.written = policies
    return limiters
  }

  /** Lays anew over the policies of the file what is to be laid over them. */
  refresh(): void {
    const policies = this.adjust(this.written)
    if (!isDeepStrictEqual(policies, this.limiters.policies)) this.enforce(policies)
  }

  private enforce(policies: readonly Policy[]): Limiters {
    const old = this.limiters
    const makeOrKeep = (policy: Policy): ServiceLimiter => {
      const same = old.policies.find(({ name }) => name === policy.name)
      const kept = isDeepStrictEqual(same, policy) ? old.get(policy.name) : undefined
      return kept ?? this.make(policy)
    }
    this.limiters = limitersOf(policies, makeOrKeep, this.generation(old.generation))
    for (const name of old.names()) {
      const limiter = old.get(name)
      if (limiter !== undefined && limiter !== this.limiters.get(name)) this.closeLater(limiter)
    }
    return this.limiters
  }

  /** Closes every limiter, old and new. The store is not theirs and stays open. */
  async close(): Promise<void> {
    const open = [...this.replaced.keys()]
    for (const name of this.limiters.names()) {
      const limiter = this.limiters.get(name)
      if (limiter !== undefined) open.push(limiter)
    }
    for (const timer of this.replaced.values()) clearTimeout(timer)
    this.replaced.clear()
    await Promise.all(open.map(async (limiter) => limiter.close()))
  }

  private closeLater(limiter: ServiceLimiter): void {
    const timer = setTimeout(() => {
      this.replaced.delete(limiter)
      void limiter.close()
    }, AFTERLIFE)
    timer.unref()
    this.replaced.set(limiter, timer)
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

// The stand-in of a limiter: the same policy in this process, at a part of its limits.
import type { Decision } from '../decision/decision.ts'
import { StoodIn, type ModeOf } from '../decision/stood-in.ts'
import { compilePolicy } from '../policy/compile.ts'
import type { Attributes, Policy } from '../policy/policy.ts'
import { scalePolicy } from '../policy/scale.ts'
import type { Failure, Fallback } from '../resilience/fallback.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { systemClock, type Clock, type Millis } from '../time/clock.ts'
import { RuleLimiter } from './rule-limiter.ts'
import { StandInStore } from './stand-in-store.ts'

/** Keys that a stand-in counts at most: about 10 MB. */
const MOST_KEYS = 100_000

/** What a stand-in is made from. */
export interface StandInOptions {
  /** Parsed. */
  readonly policy: Policy
  /** The part of a quota or burst that is granted here. */
  readonly partOf: (units: number) => number
  readonly hashKeys: boolean
  readonly isBareLimit: boolean
  /** Default: the system's monotonic clock. */
  readonly clock: Clock | undefined
}

/**
 * Answers rule by rule, as each rule's `onStoreFailure` says. Nothing is made before the first answer. Counts
 * then live until they are as good as new, whether the store is back or not: a store that comes and goes
 * hands out no second share.
 */
export class StandIn implements Fallback {
  private readonly options: StandInOptions
  private readonly modeOf: ModeOf
  private made: { readonly store: StandInStore; readonly limiter: RuleLimiter } | undefined

  constructor(options: StandInOptions) {
    this.options = options
    const modes = new Map(
      options.policy.rules.map(({ name, onStoreFailure = 'local' }) => [name, onStoreFailure]),
    )
    this.modeOf = (rule) => modes.get(rule)!
  }

  check(attributes: Attributes | string, cost: number | undefined, failure: Failure): Decision {
    const { limiter } = this.ready(failure)
    return new StoodIn(limiter.check(attributes, cost) as Decision, failure.cause, this.modeOf)
  }

  peek(attributes: Attributes | string, cost: number | undefined, failure: Failure): Decision {
    const { limiter } = this.ready(failure)
    return new StoodIn(limiter.peek(attributes, cost) as Decision, failure.cause, this.modeOf)
  }

  give(attributes: Attributes | string, cost: number | undefined, takenAt?: Millis): void {
    void this.made?.limiter.give(attributes, cost, takenAt)
  }

  reset(attributes: Attributes | string): void {
    void this.made?.limiter.reset(attributes)
  }

  close(): void {
    // A closed limiter says so; one that was never made would not.
    void this.ready().limiter.close()
  }

  private ready(failure?: Failure): NonNullable<typeof this.made> {
    this.made ??= this.make()
    if (failure !== undefined) this.made.store.retryAfter = failure.retryAfter
    return this.made
  }

  private make(): NonNullable<typeof this.made> {
    const { policy, partOf, hashKeys, isBareLimit, clock } = this.options
    const store = new StandInStore({
      counts: memoryStore({ maxKeys: MOST_KEYS, ...(clock && { clock }) }),
      modeOf: this.modeOf,
      clock: clock ?? systemClock,
    })
    const rules = compilePolicy(scalePolicy(policy, partOf))
    return { store, limiter: new RuleLimiter(rules, store, true, hashKeys, isBareLimit) }
  }
}

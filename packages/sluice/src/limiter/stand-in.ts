// The stand-in of a limiter: the same policy in this process, at a part of its limits.
import type { Decision } from '../decision/decision.ts'
import { StoodIn, type ModeOf } from '../decision/stood-in.ts'
import { compilePolicy } from '../policy/compile.ts'
import type { Attributes, Policy } from '../policy/policy.ts'
import { scaleLimit, scalePolicy } from '../policy/scale.ts'
import type { Failure, Fallback } from '../resilience/fallback.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Check, Store } from '../stores/store.ts'
import { systemClock, type Clock, type Millis } from '../time/clock.ts'
import { joinCounts, leaveCounts, localCounts } from './local-counts.ts'
import { RuleLimiter } from './rule-limiter.ts'
import { StandInStore } from './stand-in-store.ts'

/** What a stand-in is made from. */
export interface StandInOptions {
  /** Parsed. */
  readonly policy: Policy
  /** The store that cannot answer. */
  readonly store: Store
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
 * hands out no second share. What the store is known to refuse is refused.
 */
export class StandIn implements Fallback {
  private readonly options: StandInOptions
  private readonly modeOf: ModeOf
  private isClosed = false
  private made: { readonly store: StandInStore; readonly limiter: RuleLimiter } | undefined

  constructor(options: StandInOptions) {
    this.options = options
    joinCounts(options.store)
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

  refund(attributes: Attributes | string, cost: number | undefined, takenAt?: Millis): void {
    void this.made?.limiter.refund(attributes, cost, takenAt)
  }

  reset(attributes: Attributes | string): void {
    void this.made?.limiter.reset(attributes)
  }

  /** Lets go of the counts; whoever has asked before is still answered. */
  close(): void {
    if (!this.isClosed) leaveCounts(this.options.store)
    this.isClosed = true
  }

  private ready(failure?: Failure): NonNullable<typeof this.made> {
    this.made ??= this.make()
    if (failure !== undefined) this.made.store.retryAfter = failure.retryAfter
    return this.made
  }

  /** What the store refuses by this limit or by one that grants more. One that was raised since may have room. */
  private recall(check: Check): Verdict | undefined {
    const { store, partOf } = this.options
    const recalled = store.knownRefusal?.(check)
    if (recalled === undefined) return undefined
    const { quota, burst } = scaleLimit(recalled.limit, partOf)
    return quota < check.limit.quota || burst < check.limit.burst ? undefined : recalled.verdict
  }

  private make(): NonNullable<typeof this.made> {
    const { policy, store: remote, partOf, hashKeys, isBareLimit, clock } = this.options
    const store = new StandInStore({
      counts: localCounts(remote, clock),
      modeOf: this.modeOf,
      partOf,
      recall: (check) => this.recall(check),
      clock: clock ?? systemClock,
    })
    const rules = compilePolicy(scalePolicy(policy, partOf))
    return { store, limiter: new RuleLimiter(rules, store, false, hashKeys, isBareLimit) }
  }
}

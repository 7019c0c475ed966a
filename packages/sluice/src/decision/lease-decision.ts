// The decision of the shortest path to leases: one rule, whose check is the same for every request, and its verdict.
import type { Verdict } from '../limit/verdict.ts'
import {
  LazyDecision,
  LazyOutcome,
  type DecidedRequest,
  type VisibleOutcome,
} from './lazy-decision.ts'

/** A request that a lease has allowed, by one enforced rule. */
export class LeaseDecision extends LazyDecision {
  protected readonly request: DecidedRequest
  private readonly verdict: Verdict

  /** `request`: one check of the rule, with any key. */
  constructor(request: DecidedRequest, verdict: Verdict) {
    super()
    this.request = request
    this.verdict = verdict
  }

  get allowed(): boolean {
    return true
  }

  /** Only refusals have an id. */
  protected get name(): undefined {
    return undefined
  }

  get visible(): readonly VisibleOutcome[] {
    return [new LazyOutcome(this.request.checks[0]!, this.verdict)]
  }

  protected get verdicts(): readonly Verdict[] {
    return [this.verdict]
  }

  protected get binding(): number {
    return 0
  }
}

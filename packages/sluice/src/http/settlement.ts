// How requests end: what one cost in the end is charged, and what it holds of a budget is settled.
import type { Decision } from '../decision/decision.ts'
import type { LimiterControls } from '../limiter/controls.ts'
import type { Attributes, PolicyInCode } from '../policy/policy.ts'
import { attempt, mapAnswer, type MaybePromise } from '../stores/store.ts'
import type { Admission } from './admission.ts'
import type { HoldingLimiter } from './held-requests.ts'
import { checkCost, wrong, type AnyLimiter, type HttpOptions } from './options.ts'

/** Settles the requests of one guard. No method throws or rejects. */
export class RequestSettlement<Q, S> {
  private readonly limiter: AnyLimiter | HoldingLimiter
  private readonly after: HttpOptions<Q, S>['after']
  /** Whether a rule locks keys out, so that what `after` charges counts as a failure. */
  private readonly hasLockouts: boolean
  private readonly onFailure: (what: string, error: unknown) => void

  constructor(
    limiter: AnyLimiter | HoldingLimiter,
    { after }: HttpOptions<Q, S>,
    policy: PolicyInCode | undefined,
    onFailure: (what: string, error: unknown) => void,
  ) {
    this.limiter = limiter
    this.after = after
    this.hasLockouts = policy?.rules.some(({ lockout }) => lockout !== undefined) ?? false
    this.onFailure = onFailure
  }

  /** Throws `invalid-option` for an `after` that changes nothing: slots cost nothing, and no rule counts failures. */
  refuseUnused(): void {
    if (!this.hasLockouts)
      throw wrong(
        'after is given, but the budget has slots alone, which cost nothing; accepted: none',
      )
  }

  /** The request is over. Charges by the response, if `after` is set. */
  answered(admission: Admission, status: number, request: Q, response: S): void {
    const { decision, cost, refusal } = admission
    const { after } = this
    if (decision === null || refusal !== null) return
    if (after === undefined) return this.unanswered(admission)
    void attempt(
      () =>
        mapAnswer(after({ status, request, response, decision, cost }), (final) => {
          if (final === undefined) return this.unanswered(admission)
          if (this.hasLockouts && final > 0) this.countFailure(admission)
          void this.settle(admission, final)
        }),
      (error) => {
        this.onFailure('after', error)
        this.unanswered(admission)
      },
    )
  }

  /** The client has left before it had an answer. What the request holds is settled by the estimate. */
  unanswered({ held }: Admission): void {
    void held?.end()
  }

  /** Makes the request cost so many units in all. */
  settle(admission: Admission, cost: number): MaybePromise<void> {
    const { decision, attributes, cost: taken, held } = admission
    if (decision === null || !decision.allowed || (cost === taken && held === undefined)) return
    return attempt(
      () => {
        // A negative cost would refund units that other requests took.
        checkCost(cost)
        admission.cost = cost
        if (held !== undefined) return held.end(cost)
        return cost < taken
          ? this.limiter.refund(attributes, taken - cost, decision.at, decision.pools)
          : this.takeMore(attributes, cost - taken)
      },
      (error) => this.onFailure('settling', error),
    )
  }

  /** Charges units beyond those that were known; if there are not enough, all that remain. */
  private takeMore(attributes: Attributes | string, cost: number): MaybePromise<void> {
    return mapAnswer(this.limiter.check(attributes, cost), (decision: Decision) => {
      if (decision.allowed || decision.remaining === 0) return
      return mapAnswer(this.limiter.check(attributes, decision.remaining), () => undefined)
    })
  }

  /** What `after` charges is a failure for the lockouts of the policy. */
  private countFailure({ attributes }: Admission): void {
    void attempt(
      () => (this.limiter as Partial<LimiterControls>).countFailure?.(attributes),
      (error) => this.onFailure('after', error),
    )
  }
}

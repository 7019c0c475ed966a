// Requests that hold units of a budget while they are answered: slots, and tokens that are settled in the end.
import type { Decision } from '../decision/decision.ts'
import type { Attributes, PolicyInCode } from '../policy/policy.ts'
import { mapAnswer, isPromise, type MaybePromise } from '../stores/store.ts'

/**
 * What is used of a budget of `sluice/budgets`, on any store.
 *
 * @example
 * ```ts
 * const limits = (budget: AnyBudget) => rateLimit(budget)
 * ```
 */
export interface AnyBudget {
  reserve(
    attributes: Attributes | string,
    estimate?: number,
    isRenewed?: boolean,
  ): MaybePromise<{
    readonly allowed: boolean
    readonly id: string
    readonly units: number
    readonly decision: Decision
  }>
  settle(id: string, actual: number): MaybePromise<unknown>
  cancel(id: string): MaybePromise<unknown>
  enter(
    attributes: Attributes | string,
    cost?: number,
  ): MaybePromise<{ readonly decision: Decision; leave(): void }>
  countFailure(attributes: Attributes | string): MaybePromise<void>
}

/**
 * What one request holds. The first end counts.
 *
 * @example
 * ```ts
 * const settleWith = (held: HeldRequest, tokens: number) => held.end(tokens)
 * ```
 */
export interface HeldRequest {
  /** The request is over. Charges what it really cost; by default what was estimated. */
  end(actual?: number): MaybePromise<void>
  /** The request did not go on: nothing is charged. */
  cancel(): MaybePromise<void>
}

/** Whether the first argument of `rateLimit` is a budget. */
export function isBudget(value: object): value is AnyBudget {
  return typeof (value as Partial<AnyBudget>).reserve === 'function'
}

/** A limiter over a budget: a check reserves or enters, and what it holds is found by its decision. */
export class HoldingLimiter {
  /** Whether a rule holds tokens, so that requests reserve. If not, they enter. */
  readonly reserves: boolean
  private readonly budget: AnyBudget
  private readonly onError: (error: unknown) => void
  private readonly held = new WeakMap<Decision, HeldRequest>()

  constructor(
    budget: AnyBudget,
    policy: PolicyInCode | undefined,
    onError: (error: unknown) => void,
  ) {
    this.budget = budget
    this.onError = onError
    this.reserves =
      policy?.rules.some(({ hold, concurrency }) => hold !== undefined && !concurrency) ?? true
  }

  /** The cost of a request that reserves is its estimate; with 0 the budget estimates. */
  check(attributes: Attributes | string, cost?: number): MaybePromise<Decision> {
    return this.reserves ? this.reserve(attributes, cost) : this.enter(attributes, cost)
  }

  /** What the decision of an allowed request holds. */
  heldBy(decision: Decision): HeldRequest | undefined {
    return this.held.get(decision)
  }

  countFailure(attributes: Attributes | string): MaybePromise<void> {
    return this.budget.countFailure(attributes)
  }

  /** Never called: what a request holds is settled by its id. */
  refund(): void {}

  private reserve(attributes: Attributes | string, cost?: number): MaybePromise<Decision> {
    const { budget } = this
    const reservation = budget.reserve(attributes, cost === 0 ? undefined : cost, true)
    return mapAnswer(reservation, ({ allowed, id, units, decision }) => {
      if (allowed)
        this.held.set(
          decision,
          this.heldRequest(
            (actual = units) => budget.settle(id, actual),
            () => budget.cancel(id),
          ),
        )
      return decision
    })
  }

  private enter(attributes: Attributes | string, cost?: number): MaybePromise<Decision> {
    return mapAnswer(this.budget.enter(attributes, cost), (slot) => {
      const leave = (): void => slot.leave()
      if (slot.decision.allowed) this.held.set(slot.decision, this.heldRequest(leave, leave))
      return slot.decision
    })
  }

  private heldRequest(
    end: (actual?: number) => MaybePromise<unknown>,
    cancel: () => MaybePromise<unknown>,
  ): HeldRequest {
    let isOver = false
    const endOnce = (action: () => MaybePromise<unknown>): MaybePromise<void> => {
      if (isOver) return
      isOver = true
      try {
        const result = action()
        if (isPromise(result)) return result.then(() => undefined, this.onError)
      } catch (error) {
        this.onError(error)
      }
    }
    return { end: (actual) => endOnce(() => end(actual)), cancel: () => endOnce(cancel) }
  }
}

/** What a request holds that was checked several times. */
export function joinHeldRequests(
  a: HeldRequest | undefined,
  b: HeldRequest | undefined,
): HeldRequest | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const all = (one: MaybePromise<void>, other: MaybePromise<void>): MaybePromise<void> =>
    isPromise(one) || isPromise(other) ? Promise.all([one, other]).then(() => undefined) : undefined
  return {
    end: (actual) => all(a.end(actual), b.end(actual)),
    cancel: () => all(a.cancel(), b.cancel()),
  }
}

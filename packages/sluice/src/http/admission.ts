// What happened to one request at one guard, kept with the request.
import type { Decision } from '../decision/decision.ts'
import type { Attributes } from '../policy/policy.ts'
import type { MaybePromise } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { RefusalReply } from './refusal-reply.ts'

/** Whoever let the request through, or did not. */
export interface Settler {
  /** Makes the request cost so many units in all. Never throws or rejects. */
  settle(admission: Admission, cost: number): MaybePromise<void>
}

/** The way of one request through one guard. */
export class Admission {
  readonly guard: Settler
  /** Null when nothing was asked. */
  readonly decision: Decision | null
  /** Whom the request counted as. */
  readonly attributes: Attributes | string
  /** Units that the request has taken so far. */
  cost: number
  /** How long to hold the request before it goes on. */
  delay: Millis
  /** The reply to send instead of going on. */
  refusal: RefusalReply | null
  /** The admission through the guard before this one. */
  readonly earlier: Admission | undefined

  constructor(
    keeper: Settler,
    decision: Decision | null,
    subject: Attributes | string,
    cost: number,
    earlier: Admission | undefined,
  ) {
    this.guard = keeper
    this.decision = decision
    this.attributes = subject
    this.cost = cost
    this.delay = 0
    this.refusal = null
    this.earlier = earlier
  }
}

/** Where a request keeps its last admission. */
const PASSAGE = Symbol('sluice.admission')

interface Marked {
  [PASSAGE]?: Admission
}

/** The last admission of a request. */
export function admissionOf(request: object): Admission | undefined {
  return (request as Marked)[PASSAGE]
}

/** Keeps a admission with its request. */
export function keepAdmission(request: object, admission: Admission): void {
  ;(request as Marked)[PASSAGE] = admission
}

/** The decision about a request by the guard that it passed last; undefined before it passed one. */
export function decisionOf(request: object): Decision | undefined {
  return admissionOf(request)?.decision ?? undefined
}

/**
 * Says what a request cost in the end, for work that ends later than its response: what was taken too much
 * goes back, what is missing is taken. For the guard that the request passed last.
 */
export function settle(request: object, cost: number): MaybePromise<void> {
  const admission = admissionOf(request)
  if (admission !== undefined) return admission.guard.settle(admission, cost)
}

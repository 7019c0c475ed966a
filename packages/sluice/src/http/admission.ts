// What one guard decided about one request, kept with the request.
import type { Decision } from '../decision/decision.ts'
import type { Attributes } from '../policy/policy.ts'
import type { MaybePromise } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { HeldRequest } from './held-requests.ts'
import type { RefusalReply } from './refusal-reply.ts'

/** Charges a request again when its cost is known. */
export interface Settler {
  /** Makes the request cost so many units in all. Never throws or rejects. */
  settle(admission: Admission, cost: number): MaybePromise<void>
}

/**
 * What one guard decided about one request.
 *
 * @example
 * ```ts
 * const guard = createRequestGuard(nodeAdapter, limiter)
 * const { refusal, delay }: Admission = await guard.enter(request, response)
 * ```
 */
export class Admission {
  /** The guard that decided. */
  readonly guard: Settler
  /** Null when the limiter was not asked. */
  readonly decision: Decision | null
  /** The attributes, or the key, that the request counts by. */
  readonly attributes: Attributes | string
  /** Units that the request has taken so far. */
  cost: number
  /** How long to hold the request before it goes on. */
  delay: Millis
  /** The reply to send instead of going on. */
  refusal: RefusalReply | null
  /** What a function of the application threw, if that is why the request is refused. */
  error: unknown
  /** What the request holds of a budget until it is over. */
  held: HeldRequest | undefined
  /** The admission by the guard before this one. */
  readonly earlier: Admission | undefined

  constructor(
    guard: Settler,
    decision: Decision | null,
    attributes: Attributes | string,
    cost: number,
    earlier: Admission | undefined,
  ) {
    this.guard = guard
    this.decision = decision
    this.attributes = attributes
    this.cost = cost
    this.delay = 0
    this.refusal = null
    this.error = undefined
    this.held = undefined
    this.earlier = earlier
  }
}

/** Where a request keeps its last admission. */
const ADMISSION = Symbol('sluice.admission')

interface Marked {
  [ADMISSION]?: Admission
}

/** Admissions that are kept beside their requests. */
const beside = new WeakMap<object, Admission>()
let isBesideUsed = false

/** How a guard keeps admissions with their requests. */
export interface AdmissionKeeper {
  /** The last admission of a request. */
  of(request: object): Admission | undefined
  keep(request: object, admission: Admission): void
}

/** Keeps an admission as a property of its request, the cheapest way. */
export const onRequest: AdmissionKeeper = {
  of: (request) =>
    (isBesideUsed ? beside.get(request) : undefined) ?? (request as Marked)[ADMISSION],
  keep(request, admission) {
    if (isBesideUsed && beside.has(request)) beside.set(request, admission)
    else (request as Marked)[ADMISSION] = admission
  },
}

/**
 * Keeps an admission beside its request. Express changes the prototype of each request, after which a new property, or
 * looking for one that is missing, may cost more than this.
 */
export const besideRequest: AdmissionKeeper = {
  of: (request) => beside.get(request),
  keep(request, admission) {
    isBesideUsed = true
    beside.set(request, admission)
  },
}

/** The last admission of a request, whichever guard kept it. */
function admissionOf(request: object): Admission | undefined {
  return onRequest.of(request)
}

/**
 * The decision of the guard that a request met last; undefined before it met one.
 *
 * @example
 * ```ts
 * const left = decisionOf(request)?.remaining
 * ```
 */
export function decisionOf(request: object): Decision | undefined {
  return admissionOf(request)?.decision ?? undefined
}

/**
 * Sets the final cost of a request, for work that ends later than its response: surplus units are refunded, missing
 * ones are taken. With a budget, settles what the request holds: call it before the response is over. Concerns the guard
 * that the request met last.
 *
 * @example
 * ```ts
 * await settle(request, 12) // what the request cost in the end
 * ```
 */
export function settle(request: object, cost: number): MaybePromise<void> {
  const admission = admissionOf(request)
  if (admission !== undefined) return admission.guard.settle(admission, cost)
}

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
  /** Null if the request was not checked, or its check failed. */
  readonly decision: Decision | null
  /** The attributes, or the key, that the request counts by. */
  readonly attributes: Attributes | string
  /** Units that the request has taken so far. */
  cost: number
  /** How long to hold the request before its handler runs. */
  delay: Millis
  /** The reply to send instead of going on. */
  refusal: RefusalReply | null
  /** What a function of the application threw, if that is why the request is refused. */
  error: unknown
  /** What the request holds of a budget until it is over. */
  held: HeldRequest | undefined
  /** The admission by the guard before this one. */
  readonly earlier: Admission | undefined
  /** The request, once the admission is kept with it. */
  request: object | undefined

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
    this.request = undefined
  }
}

/** Where an object that carries the admission of a request has it. */
const ADMISSION = Symbol('sluice.admission')

interface Marked {
  [ADMISSION]?: Admission
  readonly rawHeaders?: object
}

/** Admissions of requests that have no object of their own to carry one. */
const admissionsByRequest = new WeakMap<object, Admission>()
/** Whether there ever was one: most processes never read the map. */
let hasAdmissionsByRequest = false

/**
 * What carries the admission of a request: the list of its header lines, which Node makes for each request, else the
 * request. Express changes the prototype of each request, so that V8 gives each one a hidden class of its own: a property
 * more costs 1.8 µs there, a WeakMap 0.7, reading the list 0.3. Guards therefore read it once.
 */
export function carrierOf(request: object): object {
  return (request as Marked).rawHeaders ?? request
}

/** The last admission of a request. */
export function lastAdmission(carrier: object, request: object): Admission | undefined {
  const kept = (carrier as Marked)[ADMISSION]
  if (kept !== undefined && kept.request === request) return kept
  return hasAdmissionsByRequest ? admissionsByRequest.get(request) : undefined
}

/** Keeps an admission with its request. Requests of tests may share a list of header lines, or be frozen. */
export function keepAdmission(carrier: object, request: object, admission: Admission): void {
  admission.request = request
  const kept = (carrier as Marked)[ADMISSION]
  if (kept === undefined || kept.request === request)
    try {
      ;(carrier as Marked)[ADMISSION] = admission
      return
    } catch {
      // Frozen. To test for it first costs more than the rest of this function.
    }
  hasAdmissionsByRequest = true
  admissionsByRequest.set(request, admission)
}

function admissionOf(request: object): Admission | undefined {
  return lastAdmission(carrierOf(request), request)
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

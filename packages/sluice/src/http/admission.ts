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
  /** The request, where the admission is not kept on it. */
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

/** Where a request, or the list of its header lines, keeps its last admission. */
const ADMISSION = Symbol('sluice.admission')

interface Marked {
  [ADMISSION]?: Admission
  readonly rawHeaders?: object & { [ADMISSION]?: Admission }
}

/** Admissions of requests that have no list of header lines to themselves. */
const beside = new WeakMap<object, Admission>()
/** Whether an admission was ever kept on its request, and whether one was kept elsewhere: most processes know one way. */
let isOnRequest = false
let isOffRequest = false

/** How a guard keeps admissions with their requests. */
export interface AdmissionKeeper {
  /** The last admission of a request. */
  of(request: object): Admission | undefined
  keep(request: object, admission: Admission): void
}

/** Keeps an admission as a property of its request, the cheapest way. */
export const onRequest: AdmissionKeeper = {
  of: (request) => (isOffRequest ? offRequest.of(request) : (request as Marked)[ADMISSION]),
  keep(request, admission) {
    if (isOffRequest) offRequest.keep(request, admission)
    else {
      isOnRequest = true
      ;(request as Marked)[ADMISSION] = admission
    }
  },
}

/**
 * Keeps an admission on the list of the request's header lines, which Node makes for each request. Express changes the
 * prototype of each request; from then on V8 makes a new hidden class for every property that is added. A WeakMap costs
 * about 1 µs more (`bench:http`), mostly when garbage is collected.
 */
export const offRequest: AdmissionKeeper = {
  of(request) {
    const kept = (request as Marked).rawHeaders?.[ADMISSION]
    if (kept?.request === request) return kept
    return beside.get(request) ?? (isOnRequest ? (request as Marked)[ADMISSION] : undefined)
  },
  keep(request, admission) {
    isOffRequest = true
    const { rawHeaders: lines } = request as Marked
    admission.request = request
    if (lines !== undefined && mayKeep(lines, request)) lines[ADMISSION] = admission
    else beside.set(request, admission)
  },
}

/** Whether a list of header lines belongs to this request alone: requests of tests may share one. */
function mayKeep(lines: NonNullable<Marked['rawHeaders']>, request: object): boolean {
  const kept = lines[ADMISSION]
  return kept === undefined ? Object.isExtensible(lines) : kept.request === request
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

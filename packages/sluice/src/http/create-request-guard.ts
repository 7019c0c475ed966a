// Creates guards from the arguments of `rateLimit`: a limiter or a budget and options, or options of both in one object.
import { show } from '../errors.ts'
import {
  createLimiter,
  type LimiterOptions,
  type LimiterSettings,
  type LimitOption,
  type PolicyOption,
} from '../limiter/create-limiter.ts'
import { policyOfLimiter } from '../limiter/policy-of-limiter.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import { isBudget, type AnyBudget } from './held-requests.ts'
import {
  checkHttpOptions,
  splitOptions,
  wrong,
  type AnyLimiter,
  type HttpOptions,
} from './options.ts'
import { RequestGuard } from './request-guard.ts'
import { refuseUnused } from './unused-options.ts'

/**
 * A limit or a policy, where to count, and everything else, in one object.
 *
 * @example
 * ```ts
 * const options: RateLimitOptions<Request> = {
 *   limit: '100/min',
 *   user: (request) => request.headers.get('x-user'),
 * }
 * ```
 */
export type RateLimitOptions<Q, S = unknown> = Omit<LimiterSettings, 'onDecision' | 'onWarning'> &
  (LimitOption | PolicyOption) &
  HttpOptions<Q, S>

/**
 * Creates the guard of a framework. Throws `invalid-option` and the errors of `createLimiter`.
 *
 * @example
 * ```ts
 * const guard = createRequestGuard(nodeAdapter, { limit: '100/min' })
 * ```
 */
export function createRequestGuard<Q extends object, S>(
  adapter: FrameworkAdapter<Q, S>,
  first: AnyLimiter | AnyBudget | RateLimitOptions<Q, S>,
  options: HttpOptions<Q, S> = {},
): RequestGuard<Q, S> {
  if (typeof first !== 'object' || first === null)
    throw wrong(
      `the first argument is ${show(first)}; accepted: a limiter, a budget, or options such as { limit: '100/min' }`,
    )
  if (!isLimiter(first) && !isBudget(first)) checkFirst(first, options)
  checkHttpOptions(options)
  if (isLimiter(first) || isBudget(first)) return new RequestGuard(first, adapter, options)
  const { http, limiter } = splitOptions(first)
  const merged = { ...http, ...options }
  checkHttpOptions(merged)
  const { onWarning } = merged as HttpOptions<Q, S>
  const settings = { ...limiter, ...(onWarning !== undefined && { onWarning }) } as LimiterOptions
  const ownLimiter = createLimiter(settings)
  refuseUnused(policyOfLimiter(ownLimiter)?.policy, merged, limiter)
  return new RequestGuard(ownLimiter, adapter, merged)
}

/** Throws `invalid-option` if `rateLimit` is used as a middleware or a plugin itself, instead of what it returns. */
function checkFirst(first: object, options: object): void {
  const names = ['limit', 'policy']
  const isGiven = (value: object): boolean => names.some((name) => name in value)
  const prototype: unknown = Object.getPrototypeOf(first)
  const isForeign = prototype !== Object.prototype && prototype !== null
  if (isGiven(first) || (!isForeign && !isGiven(Object(options)))) return
  throw wrong(
    "the first argument is no limiter and has no limit; call rateLimit once and use what it returns: app.use(rateLimit({ limit: '100/min' })), in Fastify app.addHook('onRequest', rateLimit({ limit: '100/min' }))",
  )
}

function isLimiter(value: object): value is AnyLimiter {
  return typeof (value as Partial<AnyLimiter>).check === 'function'
}

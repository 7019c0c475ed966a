// Makes guards from what `rateLimit` is given: a limiter and options, or options of both.
import { createLimiter, type LimiterOptions } from '../limiter/create-limiter.ts'
import { show } from '../errors.ts'
import { RequestGuard } from './request-guard.ts'
import {
  checkHttpOptions,
  isHttpOption,
  wrong,
  type AnyLimiter,
  type HttpOptions,
} from './options.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'

/** A limit or a policy, where to count, and everything else, in one object. */
export type RateLimitOptions<Q, S = unknown> = LimiterOptions & HttpOptions<Q, S>

/** Makes the guard of an adapter. Throws `invalid-option` and what `createLimiter` throws. */
export function createRequestGuard<Q extends object, S>(
  adapter: FrameworkAdapter<Q, S>,
  first: AnyLimiter | RateLimitOptions<Q, S>,
  options: HttpOptions<Q, S> = {},
): RequestGuard<Q, S> {
  if (typeof first !== 'object' || first === null)
    throw wrong(
      `the first argument is ${show(first)}; accepted: a limiter, or options such as { limit: '100/min' }`,
    )
  if (isLimiter(first)) {
    checkHttpOptions(options)
    return new RequestGuard(first, adapter, options)
  }
  checkHttpOptions({ ...options })
  const ours: Record<string, unknown> = {}
  const rest: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(first))
    (isHttpOption(name) ? ours : rest)[name] = value
  Object.assign(ours, options)
  checkHttpOptions(ours)
  return new RequestGuard(createLimiter(rest as LimiterOptions), adapter, ours as HttpOptions<Q, S>)
}

function isLimiter(value: object): value is AnyLimiter {
  return typeof (value as Partial<AnyLimiter>).check === 'function'
}

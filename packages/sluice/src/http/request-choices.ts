// What the options say of one request: whether it counts, what it costs, how long it may be held.
import { show } from '../errors.ts'
import { mapAnswer, type MaybePromise } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import { duration } from '../time/duration.ts'
import { MAX_TIMER_MS } from '../time/timers.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import { wrong, type HttpOptions } from './options.ts'
import type { Warn } from './warnings.ts'

/** Whether `skip` returns true. A text such as a header field must not switch the limit off. Throws what it throws. */
export function isSkipped<Q>(
  skip: (request: Q) => MaybePromise<unknown>,
  request: Q,
  warn: Warn,
): MaybePromise<boolean> {
  return mapAnswer(skip(request), (returned) => {
    if (returned === true || !returned) return returned === true
    warn(
      'skip-value',
      () =>
        `skip returned ${show(returned)}, which is neither true nor false, so the request counts; return true to let it pass uncounted`,
    )
    return false
  })
}

/** Whether the request is a preflight: a browser sends it to learn whether it may send another one. */
export function isPreflight<Q>(adapter: FrameworkAdapter<Q, never>, request: Q): boolean {
  return (
    adapter.method(request) === 'OPTIONS' &&
    adapter.header(request, 'origin') !== undefined &&
    adapter.header(request, 'access-control-request-method') !== undefined
  )
}

/** The units that a function of the application returns. Throws what it throws, and `invalid-option`. */
export function unitsBy<Q>(cost: (request: Q) => unknown, request: Q): number {
  const units = cost(request)
  if (typeof units !== 'number')
    throw wrong(`cost returned ${show(units)}; accepted: a number of units`)
  return units
}

/** Proxies and clients seldom wait longer for an answer. */
const DEFAULT_MAX_DELAY: Millis = 60_000

/** The longest time that a request is held. Throws `invalid-option`. */
export function maxDelayOf(option: HttpOptions<unknown>['maxDelay']): Millis {
  const millis = option === undefined ? DEFAULT_MAX_DELAY : duration(option)
  if (millis > MAX_TIMER_MS)
    throw wrong(`maxDelay is ${show(option)}; accepted: a duration of at most 24 days`)
  return millis
}

// Polite retries for got: options for `got.extend` that control got's own retries.
import { plainHeaders } from './plain-headers.ts'
import type { PoliteOptions } from './polite-options.ts'
import { isReplayable } from './replayable.ts'
import { RetryRules, type Attempt } from './retry-rules.ts'

/**
 * The fields that are read from the argument of got's `calculateDelay`.
 *
 * @example
 * ```ts
 * const statusOf = ({ error }: GotRetry) => error.response?.statusCode
 * ```
 */
export interface GotRetry {
  readonly attemptCount: number
  readonly error: {
    readonly response?: { readonly statusCode: number; readonly headers: object } | undefined
    readonly options: {
      readonly method: string
      readonly url?: unknown
      readonly headers: object
      readonly body?: unknown
    }
  }
}

/**
 * The options that {@link politeGot} returns.
 *
 * @example
 * ```ts
 * const options: PoliteGotOptions = politeGot({ attempts: 3 })
 * ```
 */
export interface PoliteGotOptions {
  readonly retry: {
    readonly limit: number
    readonly calculateDelay: (retry: GotRetry) => number
  }
}

/**
 * Options with which got waits and retries like {@link polite}. Got itself does the waiting, so a request is not
 * held back before its first attempt.
 *
 * @example
 * ```ts
 * const client = got.extend(politeGot())
 * ```
 */
export function politeGot(options: PoliteOptions = {}): PoliteGotOptions {
  const rules = new RetryRules('politeGot', options)
  // Keyed by the request's options, which got keeps through all attempts.
  const attempts = new WeakMap<object, Attempt>()
  const calculateDelay = ({ attemptCount, error }: GotRetry): number => {
    const { response, options: request } = error
    if (response === undefined) return 0
    const { method, url, headers, body } = request
    const target = { method, url: String(url), headers: plainHeaders(headers) }
    const attempt =
      attempts.get(request) ?? rules.begin({ ...target, replayable: isReplayable(body) })
    attempts.set(request, attempt)
    attempt.number = attemptCount
    const head = { status: response.statusCode, headers: plainHeaders(response.headers) }
    const wait = rules.retryDelay(attempt, head)
    // Got gives up if the delay is 0.
    return wait === undefined ? 0 : Math.max(1, wait)
  }
  return { retry: { limit: rules.maxAttempts - 1, calculateDelay } }
}

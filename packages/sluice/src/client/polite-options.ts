// The options of polite clients, and the events that they report.
import type { Millis } from '../time/clock.ts'
import type { Duration } from '../time/duration.ts'
import { BACKOFF_OPTIONS, type BackoffOptions } from './backoff.ts'
import type { Hint } from './hints/hint.ts'
import type { KeyChoice, RequestTarget } from './request-key.ts'
import type { RetryBudget, RetryBudgetOptions } from './retry-budget.ts'
import type { ClientTimers } from './timers.ts'

/**
 * Reported before a refused request is sent again.
 *
 * @example
 * ```ts
 * polite(fetch, { onRetry: ({ url, wait }: RetryEvent) => console.info(url, 'again in', wait) })
 * ```
 */
export interface RetryEvent {
  readonly method: string
  readonly url: string
  /** The status of the refusal. */
  readonly status: number
  /** How many times the request has been sent so far. */
  readonly attempt: number
  /** Milliseconds until it is sent again. */
  readonly wait: Millis
  /** What the server's headers said. */
  readonly hint: Hint
}

/**
 * Reported when a request is held back before its first attempt, because of a hint in an earlier response.
 *
 * @example
 * ```ts
 * polite(fetch, { onWait: ({ url, wait }: WaitEvent) => console.info(url, 'held back for', wait) })
 * ```
 */
export interface WaitEvent {
  readonly method: string
  readonly url: string
  /** Milliseconds until the request is sent. */
  readonly wait: Millis
}

/**
 * Why a refusal is returned to the caller instead of being retried:
 * - `attempts`: the request was sent `attempts` times.
 * - `total-time`: the wait would end after `totalTime`.
 * - `retry-budget`: the server named no wait, and the retry budget is used up.
 * - `not-idempotent`: the method is not idempotent, or the option `retry` returned false.
 * - `body`: the body is a stream, which can be read only once.
 * - `server`: the server said not to retry (`X-Should-Retry: false`).
 *
 * @example
 * ```ts
 * const isOurs = (reason: GiveUpReason) => reason === 'retry-budget' || reason === 'total-time'
 * ```
 */
export type GiveUpReason =
  | 'attempts'
  | 'total-time'
  | 'retry-budget'
  | 'not-idempotent'
  | 'body'
  | 'server'

/**
 * Reported when a refusal is returned to the caller.
 *
 * @example
 * ```ts
 * polite(fetch, { onGiveUp: ({ url, reason }: GiveUpEvent) => console.warn(url, reason) })
 * ```
 */
export interface GiveUpEvent {
  readonly reason: GiveUpReason
  readonly method: string
  readonly url: string
  /** The status of the refusal. */
  readonly status: number
  /** How many times the request was sent. */
  readonly attempt: number
  /** What the server's headers said. */
  readonly hint: Hint
}

/**
 * Options of {@link polite} and of the hooks for other HTTP libraries.
 *
 * @example
 * ```ts
 * const options: PoliteOptions = { attempts: 5, totalTime: '30s' }
 * const send = polite(fetch, options)
 * ```
 */
export interface PoliteOptions extends Omit<BackoffOptions, 'attempts'> {
  /** How many times a request is sent at most, including the first. Default 5. */
  readonly attempts?: number
  /** The longest time from the call to the last attempt. Longer hints are not waited for. Default 2 minutes. */
  readonly totalTime?: Duration
  /** Statuses that are retried. Default 429 and 503. A 403 is retried too if its headers name a limit. */
  readonly statuses?: readonly number[]
  /**
   * Which requests may be sent again. Default: those with an idempotent method or an Idempotency-Key. A body that
   * can be read only once is never sent again.
   */
  readonly retry?: (request: RequestTarget & { readonly method: string }) => boolean
  /**
   * Bounds the retries for which the server named no wait, per key: options of {@link retryBudget}, a budget of
   * your own, or false for no bound.
   */
  readonly retryBudget?: RetryBudgetOptions | RetryBudget | false
  /** Which requests share hints. Default `credential`. */
  readonly key?: KeyChoice
  /** Called before each retry. Errors it throws are ignored. */
  readonly onRetry?: (event: RetryEvent) => void
  /** Called when a request is held back before its first attempt. Errors it throws are ignored. */
  readonly onWait?: (event: WaitEvent) => void
  /** Called when a refusal is returned to the caller. Errors it throws are ignored. */
  readonly onGiveUp?: (event: GiveUpEvent) => void
  /** For tests. Default: the runtime's timers. */
  readonly timers?: ClientTimers
}

const OWN_OPTIONS =
  'attempts totalTime statuses retry retryBudget key onRetry onWait onGiveUp timers'

/** The names of all options. */
export const POLITE_OPTIONS: readonly string[] = [...BACKOFF_OPTIONS, ...OWN_OPTIONS.split(' ')]

/** Calls a listener and ignores what it throws or rejects with. */
export function notify<E>(listener: ((event: E) => void) | undefined, event: E): void {
  void (async () => listener?.(event))().catch(() => {})
}

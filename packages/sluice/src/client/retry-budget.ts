// Bounds a client's retries as a share of its requests, so that retries do not prolong an outage.
import type { Clock } from '../time/clock.ts'
import { OptionReader } from '../options/option-reader.ts'
import { runtimeTimers } from './timers.ts'

/**
 * Options of {@link retryBudget}.
 *
 * @example
 * ```ts
 * retryBudget({ share: 0.1, perSecond: 1 })
 * ```
 */
export interface RetryBudgetOptions {
  /** Retries earned by each request. Default 0.1: one retry per ten requests. */
  readonly share?: number
  /** Retries earned per second, for clients with few requests. Default 1. */
  readonly perSecond?: number
  /** The most retries that can be saved. A new budget is full. Default 10. */
  readonly burst?: number
  /** Default: the system's monotonic clock. */
  readonly clock?: Clock
}

/**
 * Decides whether a retry is allowed.
 *
 * @example
 * ```ts
 * const budget: RetryBudget = retryBudget({ share: 0.1 })
 * budget.request()
 * if (budget.retry()) console.log('a retry is allowed')
 * ```
 */
export interface RetryBudget {
  /** Counts a request. Call it once per request, not per attempt. */
  request(): void
  /** Takes one retry; returns false if none is left. */
  retry(): boolean
}

/**
 * A token bucket of retries. Among n requests within t seconds there are at most
 * burst + share · n + perSecond · t retries, whatever the server answers.
 *
 * @example
 * ```ts
 * const shared = retryBudget({ share: 0.05 })
 * const [orders, users] = [polite(fetch, { retryBudget: shared }), polite(fetch, { retryBudget: shared })]
 * ```
 */
export function retryBudget(options: RetryBudgetOptions = {}): RetryBudget {
  const reader = new OptionReader('retryBudget', options, ['share', 'perSecond', 'burst', 'clock'])
  const share = reader.number('share', options.share, 0.1, { least: 0, most: 1 })
  const perSecond = reader.number('perSecond', options.perSecond, 1, { least: 0 })
  const burst = reader.number('burst', options.burst, 10, { least: 0 })
  const clock = reader.callable('clock', options.clock, runtimeTimers.clock)
  // With room for less than one retry, none could ever be earned.
  const most = Math.max(burst, 1)
  let left = burst
  let last = clock()
  const earn = (retries: number): void => {
    const now = clock()
    left = Math.min(most, left + retries + (Math.max(0, now - last) / 1000) * perSecond)
    last = now
  }
  return {
    request: () => earn(share),
    retry: () => {
      earn(0)
      // Ten times 0.1 must make one retry, but the floating-point sum is slightly below 1.
      if (left < 1 - 1e-9) return false
      left -= 1
      return true
    },
  }
}

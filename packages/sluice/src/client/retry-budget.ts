// Bounds the retries of a client by its requests, so that an outage is not made worse by those who wait for its end.
import type { Clock } from '../time/clock.ts'
import { OptionReader } from '../options/option-reader.ts'
import { systemTimers } from './timers.ts'

/** How many retries there may be. */
export interface RetryBudgetOptions {
  /** Retries earned by each request. Default 0.1: one retry for ten requests. */
  readonly share?: number
  /** Retries earned by each second, for clients with few requests. Default 1. */
  readonly perSecond?: number
  /** Most retries saved up; a new budget is full. Default 10. */
  readonly burst?: number
  /** Default: the system's monotonic clock. */
  readonly clock?: Clock
}

/** Counts requests and retries. */
export interface RetryBudget {
  /** A request is sent for the first time. */
  request(): void
  /** Takes one retry; false when none is left. */
  retry(): boolean
}

/**
 * A token bucket of retries. Among n requests within t seconds there are at most
 * burst + share · n + perSecond · t retries, whatever the server answers.
 */
export function retryBudget(options: RetryBudgetOptions = {}): RetryBudget {
  const reader = new OptionReader('retryBudget', options, ['share', 'perSecond', 'burst', 'clock'])
  const share = reader.number('share', options.share, 0.1, { least: 0, most: 1 })
  const perSecond = reader.number('perSecond', options.perSecond, 1, { least: 0 })
  const burst = reader.number('burst', options.burst, 10, { least: 0 })
  const clock = reader.callable('clock', options.clock, systemTimers.clock)
  // With less room than for one retry, none could ever be earned.
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
      // Ten tenths must make one: sums of shares are a hair below it.
      if (left < 1 - 1e-9) return false
      left -= 1
      return true
    },
  }
}

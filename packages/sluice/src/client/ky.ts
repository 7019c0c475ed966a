// Polite retries for ky: options for `ky.extend`.
import { polite, type Fetch } from './polite.ts'
import type { PoliteOptions } from './polite-options.ts'
import { RetryRules } from './retry-rules.ts'

/**
 * The options that {@link politeKy} returns: a polite fetch in place of ky's retries, and a timeout that covers all attempts.
 *
 * @example
 * ```ts
 * const options: PoliteKyOptions = politeKy({ attempts: 3 })
 * ```
 */
export interface PoliteKyOptions {
  readonly fetch: Fetch
  readonly retry: 0
  readonly timeout: number
}

/**
 * Options with which ky waits and retries like {@link polite}. Ky's timeout covers all attempts, so it is set to
 * `totalTime` plus 10 seconds.
 *
 * @example
 * ```ts
 * const client = ky.extend(politeKy())
 * ```
 */
export function politeKy(options: PoliteOptions = {}): PoliteKyOptions {
  const { totalTime } = new RetryRules('politeKy', options)
  return { fetch: polite(globalThis.fetch, options), retry: 0, timeout: totalTime + 10_000 }
}

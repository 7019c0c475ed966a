// Warnings about what is allowed but may cost more than expected, each once.
import { helpAt } from '../errors.ts'
import { limitText, type Limit } from '../limit/limit.ts'
import type { ClientRisk } from './client-adapter.ts'

/**
 * A risk that is no error.
 *
 * @example
 * ```ts
 * redisStore(client, { onWarning: ({ code, message }: StoreWarning) => notify(code, message) })
 * ```
 */
export interface StoreWarning {
  /** Stable, documented under `docs/reference/redis.md`. */
  readonly code: 'large-sliding-log' | 'server-evicts' | 'client-not-open' | ClientRisk
  readonly message: string
}

/** The largest quota of a sliding log without stamps and without a warning: 16 kB in each key. */
const MAX_LOG_WITHOUT_WARNING = 1000
const BYTES_PER_ENTRY = 16

/** Checks every limit that is used, and warns of each once. */
export function warnOfLimits(warn: (warning: StoreWarning) => void): (limit: Limit) => void {
  const reported = new Set<string>()
  return (limit) => {
    const { algorithm, quota, stamps } = limit
    if (algorithm !== 'sliding-log' || stamps !== undefined || quota <= MAX_LOG_WITHOUT_WARNING)
      return
    const text = limitText(limit)
    if (reported.has(text)) return
    reported.add(text)
    const kilobytes = Math.ceil((2 * quota * BYTES_PER_ENTRY) / 1000)
    warn({
      code: 'large-sliding-log',
      message: `${text} remembers every request, up to ${kilobytes} kB in Redis for each key; use stamps or sliding-window`,
    })
  }
}

/** Where warnings go by default. */
export function warnOnConsole({ code, message }: StoreWarning): void {
  // oxlint-disable-next-line no-console -- the default of `onWarning`
  console.warn(`sluice: ${message} (${code}, ${helpAt('reference/redis', code)})`)
}

// Reads what a response's headers say about limits, in any common dialect, into one shape.
import type { Millis } from '../../time/clock.ts'
import { httpDate } from './http-date.ts'
import { waitInMillis, waitUntilRetry } from './waits.ts'
import { quotaOf, type HeaderReader, type Quota } from './quota.ts'
import { readPolicyField, readRateLimitFields } from './rate-limit-fields.ts'
import { readHeaderTriples } from './header-triples.ts'

/**
 * What a server's headers say about its limits.
 *
 * @example
 * ```ts
 * const { retryAfter, quotas }: Hint = hintOf(response.headers, Date.now())
 * ```
 */
export interface Hint {
  /** Milliseconds to wait before the next request; undefined if the server names no wait. */
  readonly retryAfter: Millis | undefined
  /** Whether to retry, if the server says so (`X-Should-Retry`, `Stripe-Should-Retry`). */
  readonly shouldRetry: boolean | undefined
  /** The limits that the headers describe. */
  readonly quotas: readonly Quota[]
}

/** Shopify's bucket drains in 20 seconds, whatever its size. */
const SHOPIFY_WINDOW: Millis = 20_000

/**
 * Reads the hint of a response that has just arrived. `now` is the receiver's wall clock, in milliseconds.
 *
 * @example
 * ```ts
 * const { retryAfter, quotas } = hintOf(response.headers, Date.now())
 * ```
 */
export function hintOf(headers: HeaderReader, now: Millis): Hint {
  // Instants are compared with the server's own clock, because ours may be wrong by hours.
  const serverNow = httpDate((headers.get('date') ?? '').trim(), now) ?? now
  return {
    retryAfter: retryAfterOf(headers, serverNow),
    shouldRetry: shouldRetryOf(headers),
    // A cached response carries the quotas of an earlier request.
    quotas: Number(headers.get('age') ?? 0) > 0 ? [] : quotasOf(headers, serverNow),
  }
}

/** Milliseconds until all spent quotas have units again; undefined if none is spent or none names its reset. */
export function waitForSpentQuotas({ quotas }: Pick<Hint, 'quotas'>): Millis | undefined {
  let longest: Millis | undefined
  for (const { remaining = 1, resetAfter } of quotas)
    if (remaining < 1 && resetAfter !== undefined) longest = Math.max(longest ?? 0, resetAfter)
  return longest
}

/**
 * Milliseconds to wait after a response of 429: Retry-After, else the reset of the spent quotas. If none is said to
 * be spent, the reset of the quotas that do not say how much is left. Undefined if the server names no wait.
 */
export function waitAfterRefusal(hint: Hint): Millis | undefined {
  const wait = hint.retryAfter ?? waitForSpentQuotas(hint)
  if (wait !== undefined) return wait
  const silent = hint.quotas.filter(({ remaining }) => remaining === undefined)
  return waitForSpentQuotas({ quotas: silent.map((quota) => ({ ...quota, remaining: 0 })) })
}

/** RateLimit, else the fields in threes, else the policies alone. */
function statedQuotas(headers: HeaderReader, serverNow: Millis): readonly Quota[] {
  const quotas = readRateLimitFields(headers) ?? readHeaderTriples(headers, serverNow)
  return quotas.length > 0 ? quotas : readPolicyField(headers)
}

function quotasOf(headers: HeaderReader, serverNow: Millis): readonly Quota[] {
  const quotas = statedQuotas(headers, serverNow)
  const shopify = /^\s*(\d{1,9})\s*\/\s*(\d{1,9})\s*$/.exec(
    headers.get('x-shopify-shop-api-call-limit') ?? '',
  )
  if (shopify === null) return quotas
  const quota = Number(shopify[2])
  const remaining = Math.max(0, quota - Number(shopify[1]))
  return [...quotas, quotaOf({ name: 'shopify', quota, window: SHOPIFY_WINDOW, remaining })!]
}

/** A header in milliseconds refines the one in seconds; if they differ by a second or more, the longer wait wins. */
function retryAfterOf(headers: HeaderReader, serverNow: Millis): Millis | undefined {
  const wait = waitUntilRetry(headers.get('retry-after') ?? '', serverNow)
  const precise = waitInMillis(
    headers.get('retry-after-ms') ?? headers.get('x-amz-retry-after') ?? '',
  )
  if (wait === undefined || precise === undefined) return wait ?? precise
  return wait - precise < 1000 ? precise : wait
}

function shouldRetryOf(headers: HeaderReader): boolean | undefined {
  const text = headers.get('x-should-retry') ?? headers.get('stripe-should-retry')
  return text === 'true' ? true : text === 'false' ? false : undefined
}

// All that an answer's headers say about limits, in one shape, whatever dialect they speak.
import type { Millis } from '../../time/clock.ts'
import { httpDate } from './http-date.ts'
import { waitInMillis, waitUntilRetry } from './instants.ts'
import { quotaOf, type HeaderReader, type Quota } from './quota.ts'
import { rateLimitFields } from './rate-limit-fields.ts'
import { triples } from './triples.ts'

/** What a server says about when to ask again, and how much. */
export interface Hint {
  /** Not before so many milliseconds from now; undefined when the server does not say. */
  readonly retryAfter: Millis | undefined
  /** Whether trying again makes sense, when the server says so (`X-Should-Retry`, `Stripe-Should-Retry`). */
  readonly shouldRetry: boolean | undefined
  readonly quotas: readonly Quota[]
}

/** Shopify's bucket empties within 20 seconds, however large it is. */
const SHOPIFY_WINDOW: Millis = 20_000

/** Reads the hint of an answer that has just arrived, by the receiver's calendar clock. */
export function hintOf(headers: HeaderReader, now: Millis): Hint {
  // Instants are compared with the clock that named them: ours may be wrong by hours.
  const there = httpDate((headers.get('date') ?? '').trim(), now) ?? now
  return {
    retryAfter: retryAfterOf(headers, there),
    shouldRetry: shouldRetryOf(headers),
    // What a cache gives us was said of somebody's earlier request.
    quotas: Number(headers.get('age') ?? 0) > 0 ? [] : quotasOf(headers, there),
  }
}

/** Until the last of the spent quotas comes back; undefined when none is spent, or none says when. */
export function spentFor({ quotas }: Hint): Millis | undefined {
  let longest: Millis | undefined
  for (const { remaining = 1, resetAfter } of quotas)
    if (remaining < 1 && resetAfter !== undefined) longest = Math.max(longest ?? 0, resetAfter)
  return longest
}

function quotasOf(headers: HeaderReader, there: Millis): readonly Quota[] {
  const quotas = rateLimitFields(headers) ?? triples(headers, there)
  const shopify = /^\s*(\d{1,9})\s*\/\s*(\d{1,9})\s*$/.exec(
    headers.get('x-shopify-shop-api-call-limit') ?? '',
  )
  if (shopify === null) return quotas
  const quota = Number(shopify[2])
  const remaining = Math.max(0, quota - Number(shopify[1]))
  return [...quotas, quotaOf({ name: 'shopify', quota, window: SHOPIFY_WINDOW, remaining })!]
}

/** Milliseconds refine the seconds beside them; where the two disagree, the longer wait is meant. */
function retryAfterOf(headers: HeaderReader, there: Millis): Millis | undefined {
  const wait = waitUntilRetry(headers.get('retry-after') ?? '', there)
  const fine = waitInMillis(headers.get('retry-after-ms') ?? headers.get('x-amz-retry-after') ?? '')
  if (wait === undefined || fine === undefined) return wait ?? fine
  return wait - fine < 1000 ? fine : wait
}

function shouldRetryOf(headers: HeaderReader): boolean | undefined {
  const text = headers.get('x-should-retry') ?? headers.get('stripe-should-retry')
  return text === 'true' ? true : text === 'false' ? false : undefined
}

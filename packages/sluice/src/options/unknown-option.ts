// The error for an option that a function does not have: what was meant, or what other libraries' words are here.
import { show, SluiceError } from '../errors.ts'
import { unknownName } from './suggest.ts'

const WINDOW = "the window is part of the limit, such as limit: '100/15min'"
const QUOTA = "the number is part of the limit, such as limit: '100/min'"
const REPLY = 'use onRefused, which may return { status, headers, body }'
const KEY = 'use key, or user and apiKey'
const AFTER =
  'use after, such as after: ({ status }) => (status < 400 ? 0 : undefined) to count failures only'
const HEADERS = "use headers, such as headers: ['draft-8', 'x-ratelimit-epoch'], or false"
const PREFIX = 'use the prefix of redisStore(client, { prefix })'
const FAILURE = 'use onFailure, and onStoreFailure of a rule'
const NONE = 'there is no such option'

/**
 * Options of express-rate-limit, rate-limiter-flexible, @upstash/ratelimit, @fastify/rate-limit and
 * @nestjs/throttler in the words of this library.
 */
const TRANSLATIONS: ReadonlyMap<string, string> = new Map([
  ['windowMs', WINDOW],
  ['duration', WINDOW],
  ['timeWindow', WINDOW],
  ['ttl', WINDOW],
  ['window', WINDOW],
  ['interval', WINDOW],
  ['max', QUOTA],
  ['points', QUOTA],
  ['tokens', QUOTA],
  ['quota', QUOTA],
  ['message', REPLY],
  ['statusCode', REPLY],
  ['handler', REPLY],
  ['errorResponseBuilder', REPLY],
  ['errorMessage', REPLY],
  ['onLimitReached', 'use onRefused or onDecision'],
  ['onExceeded', 'use onRefused or onDecision'],
  ['onExceeding', 'use onDecision'],
  ['keyGenerator', KEY],
  ['generateKey', KEY],
  ['getTracker', KEY],
  ['identifier', KEY],
  ['standardHeaders', HEADERS],
  ['legacyHeaders', HEADERS],
  ['addHeaders', HEADERS],
  ['enableDraftSpec', HEADERS],
  ['setHeaders', HEADERS],
  ['draft_polli_ratelimit_headers', HEADERS],
  ['skipSuccessfulRequests', AFTER],
  ['skipFailedRequests', AFTER],
  ['requestWasSuccessful', AFTER],
  ['skipIf', 'use skip'],
  ['allowList', 'use skip, or a rule with when'],
  ['ban', 'use a second rule with a longer window and countRefused'],
  ['blockDuration', 'use a second rule with a longer window and countRefused'],
  ['trustProxy', "use address: { trustedProxies: [...] }, or address: 'express'"],
  ['ipv6Subnet', 'use address: { ipv6Prefix: 56 }'],
  ['requestPropertyName', 'use decisionOf(request)'],
  ['passOnStoreError', FAILURE],
  ['skipOnError', FAILURE],
  ['insuranceLimiter', 'the limiter falls back to memory by itself: see resilience'],
  ['timeout', 'use resilience: { timeout }'],
  ['keyPrefix', PREFIX],
  ['prefix', PREFIX],
  ['nameSpace', PREFIX],
  ['redis', 'use store: redisStore(client)'],
  ['storeClient', 'use store: redisStore(client)'],
  ['limiter', "write the limit as a string or an object, such as limit: '10/10s'"],
  ['execEvenly', "use a limit with algorithm: 'leaky-bucket'"],
  ['exponentialBackoff', 'use a second rule with a longer window'],
  ['ephemeralCache', 'refusals are remembered by redisStore itself'],
  ['inMemoryBlockOnConsumed', 'refusals are remembered by redisStore itself'],
  ['cache', 'use memoryStore({ maxKeys })'],
  ['analytics', 'use onDecision'],
  ['throttlers', 'use a policy of several rules'],
  ['validate', NONE],
  ['hook', 'add the hook that you want: app.addHook(name, rateLimit(...))'],
  ['global', NONE],
])

/** The `invalid-option` error for an option that `caller` does not have. */
export function unknownOption(
  caller: string,
  name: string,
  accepted: readonly string[],
): SluiceError {
  const translation = TRANSLATIONS.get(name)
  const message =
    translation === undefined
      ? unknownName('option', name, accepted)
      : `unknown option ${show(name)}; ${translation}; accepted: ${accepted.join(', ')}`
  return new SluiceError('invalid-option', `${caller}: ${message}`)
}

/** Throws `invalid-option` for the first option of an object that `caller` does not have. */
export function checkOptionNames(
  caller: string,
  options: object,
  accepted: readonly string[],
): void {
  for (const name of Object.keys(options))
    if (!accepted.includes(name)) throw unknownOption(caller, name, accepted)
}

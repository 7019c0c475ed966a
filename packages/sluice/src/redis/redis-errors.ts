// What a Redis client's error means: which of our codes, and whether later may help.
import { SluiceError, type ErrorCode } from '../errors.ts'

/** Server replies by the word they begin with; clients differ in what they put around it. */
const REPLIES: readonly (readonly [RegExp, ErrorCode, boolean, string])[] = [
  [
    /\bWRONGTYPE\b/,
    'store-wrong-type',
    false,
    'a key of ours holds a value of another type; delete it or change the prefix',
  ],
  [
    /\b(NOAUTH|WRONGPASS|NOPERM)\b|invalid password|unauthenticated|user executing the script can't/i,
    'store-forbidden',
    false,
    'Redis does not let us in; check user, password and ACL',
  ],
  [
    /\bLEARNING\b/,
    'store-learning',
    true,
    'Redis may have lost what is leased, and leases nothing until that has ended',
  ],
  [/\bOOM\b/, 'store-full', true, 'Redis is out of memory'],
  [
    /\b(READONLY|MISCONF)\b|read only replica/i,
    'store-readonly',
    true,
    'Redis takes no writes: it is a replica, or cannot save them',
  ],
  [
    /\b(BUSY|LOADING|MASTERDOWN|TRYAGAIN|CLUSTERDOWN|UNKILLABLE)\b/,
    'store-busy',
    true,
    'Redis is busy',
  ],
  [/\bNOREPLICAS\b/, 'store-busy', true, 'Redis has too few replicas to take writes'],
  [/\b(MOVED|ASK)\b/, 'store-busy', true, 'the cluster is moving slots'],
]

/** What clients say of themselves: they gave up before us. */
const TIMEOUT = /timed out|TimeoutError|timeout waiting/i

/** Messages of clients without a connection. */
const CONNECTION =
  /connect|closed|closing|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|socket|stream|offline|not ready|isn't ready|max retries|max number of clients|ended|unavailable|unreachable|failed to refresh slots|None of the (sentinels|nodes)/i

/** The error as one of ours. */
export function storeError(cause: unknown): SluiceError {
  if (cause instanceof SluiceError) return cause
  const text = cause instanceof Error ? `${cause.name} ${cause.message}` : String(cause)
  const known = REPLIES.find(([pattern]) => pattern.test(text))
  if (known !== undefined) {
    const [, code, transient, sentence] = known
    return new SluiceError(code, `${sentence} (${text})`, { cause, transient })
  }
  if (TIMEOUT.test(text)) {
    return new SluiceError('store-timeout', `Redis did not answer in time (${text})`, {
      cause,
      transient: true,
    })
  }
  if (CONNECTION.test(text)) {
    return new SluiceError('store-unreachable', `Redis cannot be reached (${text})`, {
      cause,
      transient: true,
    })
  }
  return new SluiceError('store-failed', `Redis answered with an error (${text})`, {
    cause,
    transient: false,
  })
}

/** Whether the server does not know the script: after a restart, a failover, SCRIPT FLUSH, or on a new node. */
export function isNoScript(error: unknown): boolean {
  return /NOSCRIPT|NoScript/.test(
    error instanceof Error ? `${error.name} ${error.message}` : String(error),
  )
}

// What `rateLimit` may be told, the same in every framework.
import { show, SluiceError } from '../errors.ts'
import type { Decision } from '../decision/decision.ts'
import type { Limiter, SyncLimiter } from '../limiter/limiter.ts'
import type { Attributes } from '../policy/policy.ts'
import type { MaybePromise } from '../stores/store.ts'
import type { Duration } from '../time/duration.ts'
import type { AddressOptions } from './client-address.ts'
import type { DialectName } from './headers/dialects.ts'
import type { ProblemDetails } from './problem.ts'
import type { HttpWarning } from './warnings.ts'

/** Says who somebody is, or nothing when it is not known. */
export type Identify<Q> = (request: Q) => MaybePromise<string | number | null | undefined>

/** A response that has been sent, at least its head. */
export interface Answered<Q, S> {
  readonly status: number
  readonly request: Q
  readonly response: S
  readonly decision: Decision
  /** Units that were taken when the request came. */
  readonly cost: number
}

/** Everything that can be said beside the limit. */
export interface HttpOptions<Q, S = unknown> {
  readonly user?: Identify<Q>
  /** Secrets make no keys: the attribute is the hash of what this gives, see `apiKeyHash`. */
  readonly apiKey?: Identify<Q>
  readonly tenant?: Identify<Q>
  readonly plan?: Identify<Q>
  /** For a bare limit: whom it counts by. Default: the user, else the API key, else the address. */
  readonly key?: Identify<Q>
  /** Further attributes, such as the account of a login. */
  readonly attributes?: (request: Q) => MaybePromise<Attributes>
  /** Units per request, when it comes. Default: 1. */
  readonly cost?: number | ((request: Q) => number)
  /**
   * Units of the request in the end: what was taken too much goes back, what is missing is taken. Nothing
   * changes when it gives undefined, or when the client went away before it had an answer. A promise is waited for.
   */
  readonly after?: (answered: Answered<Q, S>) => MaybePromise<number | undefined>
  /** Requests that are let through uncounted, such as health checks. */
  readonly skip?: (request: Q) => boolean
  /** Counts CORS preflights too. Default: false. */
  readonly countPreflights?: boolean
  /** How the client's address is found, or the address itself. Default: the peer's. */
  readonly address?: AddressOptions | ((request: Q) => string | null | undefined)
  /**
   * What happens when there is no address: rules by `ip` are skipped, the request is refused, or all such
   * requests count as one client. Default: `skip`.
   */
  readonly unknownAddress?: 'skip' | 'refuse' | 'share'
  /** Patterns such as `/orders/{id}`, where the framework does not tell which route it matched. */
  readonly routes?: readonly string[]
  /** The header dialects, or false for none. Default: `structured`. */
  readonly headers?: DialectName | readonly DialectName[] | false
  /** Shows the fields to scripts of other origins. Default: false. */
  readonly exposeHeaders?: boolean
  /** Shows which partition a request counts in, as a hash keyed by the secret. */
  readonly partitionKeys?: { readonly secret: string }
  /** Refused clients are told to come back up to this much later than they could, each at another moment. */
  readonly spread?: Duration
  /** The status when it cannot be decided. Default: 503. */
  readonly unavailableStatus?: 429 | 503
  /** What is sent instead of the problem, as JSON. */
  readonly problem?: (problem: ProblemDetails, request: Q) => unknown
  /** What happens when the limiter fails. Default: what the policy's rules say, `closed` if one does. */
  readonly onFailure?: 'open' | 'closed'
  /** Hears of each code once. Default: `console.warn`. */
  readonly onWarning?: (warning: HttpWarning) => void
}

/** Any limiter: of this library, or one like it. */
export type AnyLimiter = Pick<Limiter, 'check' | 'refund'> | Pick<SyncLimiter, 'check' | 'refund'>

/** Accepted values by option; null: a function. */
const ACCEPTED: Readonly<
  Record<keyof HttpOptions<unknown>, readonly unknown[] | 'function' | 'other'>
> = {
  user: 'function',
  apiKey: 'function',
  tenant: 'function',
  plan: 'function',
  key: 'function',
  attributes: 'function',
  cost: 'other',
  after: 'function',
  skip: 'function',
  countPreflights: [true, false],
  address: 'other',
  unknownAddress: ['skip', 'refuse', 'share'],
  routes: 'other',
  headers: 'other',
  exposeHeaders: [true, false],
  partitionKeys: 'other',
  spread: 'other',
  unavailableStatus: [429, 503],
  problem: 'function',
  onFailure: ['open', 'closed'],
  onWarning: 'function',
}

/** Whether a name is one of ours; any other is for `createLimiter`. */
export function isHttpOption(name: string): boolean {
  return Object.hasOwn(ACCEPTED, name)
}

/** Throws `invalid-option` for a name that is not known, or a value that is not accepted. */
export function checkHttpOptions(options: object): void {
  if (typeof options !== 'object' || options === null)
    throw wrong(`the options are ${show(options)}; accepted: an object such as { cost: 2 }`)
  for (const [name, value] of Object.entries(options)) {
    if (!isHttpOption(name))
      throw wrong(`unknown option ${show(name)}; accepted: ${Object.keys(ACCEPTED).join(', ')}`)
    const accepted = ACCEPTED[name as keyof HttpOptions<unknown>]
    if (name === 'cost' && value !== undefined && typeof value !== 'function') checkCost(value)
    if (value === undefined || accepted === 'other') continue
    if (accepted === 'function') {
      if (typeof value !== 'function')
        throw wrong(`${name} is ${show(value)}; accepted: a function of the request`)
    } else if (!accepted.includes(value)) {
      throw wrong(`${name} is ${show(value)}; accepted: ${accepted.join(', ')}`)
    }
  }
}

/** Throws `invalid-cost` for what is no number of units. */
export function checkCost(cost: unknown): void {
  if (Number.isSafeInteger(cost) && (cost as number) >= 0) return
  throw new SluiceError(
    'invalid-cost',
    `rateLimit: cost is ${show(cost)}; accepted: a whole number of units, 0 or more`,
  )
}

/** An `invalid-option` error of `rateLimit`. */
export function wrong(message: string): SluiceError {
  return new SluiceError('invalid-option', `rateLimit: ${message}`)
}

// The options of `rateLimit`, the same in every framework.
import type { Decision } from '../decision/decision.ts'
import { show, SluiceError } from '../errors.ts'
import type { Limiter, SyncLimiter } from '../limiter/limiter.ts'
import { OptionReader } from '../options/option-reader.ts'
import type { Attributes } from '../policy/policy.ts'
import type { MaybePromise } from '../stores/store.ts'
import type { Duration } from '../time/duration.ts'
import type { AddressOptions } from './client-address.ts'
import type { DialectName } from './headers/dialects.ts'
import type { ProblemDetails } from './problem.ts'
import type { HttpWarning } from './warnings.ts'

/**
 * The caller's identity, or nothing when it is not known. To read a header field, use `fromHeader`.
 *
 * @example
 * ```ts
 * const user: Identify<Request> = (request) => request.headers.get('x-user')
 * ```
 */
export type Identify<Q> = (request: Q) => MaybePromise<string | number | null | undefined>

/**
 * A response that has been sent, at least its head.
 *
 * @example
 * ```ts
 * const refundNotFound = ({ status, cost }: Answered<unknown, unknown>) => (status === 404 ? 0 : cost)
 * ```
 */
export interface Answered<Q, S> {
  readonly status: number
  readonly request: Q
  readonly response: S
  readonly decision: Decision
  /** Units that were taken when the request came. */
  readonly cost: number
}

/**
 * The client's address, or a list such as X-Forwarded-For, of which the last entry counts.
 *
 * @example
 * ```ts
 * const address: AddressFunction<Request> = (request) => request.headers.get('cf-connecting-ip')
 * ```
 */
export type AddressFunction<Q> = (request: Q) => string | readonly string[] | null | undefined

/**
 * What an application may change about a reply. Whatever is left out stays as it is.
 *
 * @example
 * ```ts
 * const reply: CustomReply = { status: 503, body: { error: 'busy' } }
 * ```
 */
export interface CustomReply {
  readonly status?: number
  /** Added to the fields of the reply; a field of the same name is replaced. */
  readonly headers?: Readonly<Record<string, string>>
  /** A string is sent as text/plain unless `headers` say otherwise; anything else as JSON. */
  readonly body?: unknown
}

/**
 * What `onRefused` may return: changes of the reply, a Response where the framework takes one, or `'handled'`.
 *
 * @example
 * ```ts
 * const reply: OnRefusedResult = { body: { error: 'slow down' } }
 * ```
 */
export type OnRefusedResult = CustomReply | Response | 'handled' | undefined

/**
 * Every option of `rateLimit` besides those of `createLimiter`.
 *
 * @example
 * ```ts
 * const options: HttpOptions<Request> = { user: fromHeader('x-user'), headers: 'draft-7' }
 * ```
 */
export interface HttpOptions<Q, S = unknown> {
  readonly user?: Identify<Q>
  /** The attribute is the hash of what this returns, see `apiKeyHash`: keys never hold secrets. */
  readonly apiKey?: Identify<Q>
  readonly tenant?: Identify<Q>
  readonly plan?: Identify<Q>
  /** For a bare limit: what it counts by. Default: the user, else the API key, else the address. */
  readonly key?: Identify<Q>
  /** Further attributes, such as the account of a login: one function, or one for each attribute. */
  readonly attributes?:
    | ((request: Q) => MaybePromise<Attributes>)
    | Readonly<Record<string, Identify<Q>>>
  /** Units per request, taken when it comes. Default: 1. With a budget that reserves, the estimate; by default its own. */
  readonly cost?: number | ((request: Q) => number)
  /**
   * Units of the request in the end: surplus units are refunded, missing ones are taken. Nothing changes when it
   * returns undefined, or when the client left before it had an answer. A promise is awaited. With a budget, what the
   * request holds is settled: by this, or by the estimate. For rules with a lockout,
   * a request with units above 0 is a failure, which counts as one refusal.
   */
  readonly after?: (answered: Answered<Q, S>) => MaybePromise<number | undefined>
  /** Requests that go on uncounted, such as health checks. A promise is awaited. */
  readonly skip?: (request: Q) => MaybePromise<boolean>
  /** Whether CORS preflights count. If not, they still meet blocks. Default: true. */
  readonly countPreflights?: boolean
  /**
   * How the client's address is found, a function that returns it, or the name of the framework (`express`,
   * `fastify`, `koa`) to use its own proxy setting. Default: the peer's address.
   */
  readonly address?: AddressOptions | AddressFunction<Q> | 'express' | 'fastify' | 'koa'
  /**
   * What happens without an address: all such requests count as one client, they are refused, or rules by address
   * are skipped. Default: `share` for a bare limit, `skip` for a policy.
   */
  readonly unknownAddress?: 'skip' | 'refuse' | 'share'
  /** Patterns such as `/orders/{id}`, where the framework does not say which route it matched. */
  readonly routes?: readonly string[]
  /**
   * Paths that servers read in different ways, such as `/%2flogin`: they count as every declared route that some
   * server would take them for, or they are refused with 400. Default: `count`.
   */
  readonly ambiguousPaths?: 'count' | 'refuse'
  /** The header dialects, or false for none. Default: `structured`. */
  readonly headers?: DialectName | readonly DialectName[] | false
  /** Lets scripts of other origins read the fields. Default: false. */
  readonly exposeHeaders?: boolean
  /** Shows which partition a request counts in, as a hash keyed by the secret. */
  readonly partitionKeys?: { readonly secret: string }
  /** Moves Retry-After later by a random time up to this, so that refused clients do not return together. */
  readonly spread?: Duration
  /** The longest delay of a leaky bucket for which a request is held; above it, the request is refused. Default: 1 minute. */
  readonly maxDelay?: Duration
  /** The status when no decision is possible. Default: 503. */
  readonly unavailableStatus?: 429 | 503
  /** The header field that carries the id of a refusal, such as `Decision-Id`; it needs `identify` of the limiter. Default: none. */
  readonly decisionIdHeader?: string
  /** What is sent instead of the problem, as JSON. */
  readonly problem?: (problem: ProblemDetails, request: Q) => unknown
  /**
   * Called for each refused request, before the reply is sent. It may return changes of the reply, answer the
   * request itself (and return `'handled'` if that takes time), or throw: the framework handles the error. The
   * decision is null when none was possible.
   */
  readonly onRefused?: (
    decision: Decision | null,
    request: Q,
    response: S,
  ) => MaybePromise<OnRefusedResult | void>
  /** Called after each decision, for logs. */
  readonly onDecision?: (decision: Decision, request: Q) => void
  /** What happens when the limiter fails. Default: `closed` if a rule of the policy says so, else `open`. */
  readonly onFailure?: 'open' | 'closed'
  /** Receives each warning code once. Default: `console.warn`. */
  readonly onWarning?: (warning: HttpWarning) => void
}

/**
 * Any limiter: of this library, or one like it.
 *
 * @example
 * ```ts
 * const limits = (limiter: AnyLimiter) => rateLimit(limiter)
 * ```
 */
export type AnyLimiter = Pick<Limiter, 'check' | 'refund'> | Pick<SyncLimiter, 'check' | 'refund'>

/** What each option may be; `other`: what reads it checks it. */
type Accepted = 'function' | 'flag' | 'other' | readonly (string | number)[]

const ACCEPTED: Readonly<Record<keyof HttpOptions<unknown>, Accepted>> = {
  user: 'function',
  apiKey: 'function',
  tenant: 'function',
  plan: 'function',
  key: 'function',
  attributes: 'other',
  cost: 'other',
  after: 'function',
  skip: 'function',
  countPreflights: 'flag',
  address: 'other',
  unknownAddress: ['skip', 'refuse', 'share'],
  routes: 'other',
  ambiguousPaths: ['count', 'refuse'],
  headers: 'other',
  exposeHeaders: 'flag',
  partitionKeys: 'other',
  spread: 'other',
  maxDelay: 'other',
  unavailableStatus: [429, 503],
  decisionIdHeader: 'other',
  problem: 'function',
  onRefused: 'function',
  onDecision: 'function',
  onFailure: ['open', 'closed'],
  onWarning: 'function',
}
const HTTP_OPTIONS: readonly string[] = Object.keys(ACCEPTED)

/** The options that `rateLimit` hands to `createLimiter` when it is not given a limiter. */
const LIMITER_OPTIONS: readonly string[] = [
  'limit',
  'policy',
  'store',
  'hashKeys',
  'resilience',
  'identify',
  'blocked',
  'blockedBy',
]

/** Splits the options of both kinds. Throws `invalid-option` for a name that is neither. */
export function splitOptions(options: object): { http: object; limiter: object } {
  readerOf(options, [...LIMITER_OPTIONS, ...HTTP_OPTIONS])
  const { limit, policy } = options as { limit?: unknown; policy?: unknown }
  if (limit === undefined && policy === undefined)
    throw wrong(
      "neither limit nor policy is given; write rateLimit({ limit: '100/min' }) or rateLimit({ policy: { name, rules } })",
    )
  if (limit !== undefined && policy !== undefined)
    throw wrong(
      'both limit and policy are given; accepted: one of them, as a policy has its own limits',
    )
  const entries = Object.entries(options)
  const isOfLimiter = ([name]: [string, unknown]): boolean => LIMITER_OPTIONS.includes(name)
  return {
    limiter: Object.fromEntries(entries.filter(isOfLimiter)),
    http: Object.fromEntries(entries.filter((entry) => !isOfLimiter(entry))),
  }
}

/** Throws `invalid-option` for an unknown name or a value that is not accepted. */
export function checkHttpOptions(options: object): void {
  const reader = readerOf(options, HTTP_OPTIONS)
  for (const [name, value] of Object.entries(options)) {
    const accepted = ACCEPTED[name as keyof HttpOptions<unknown>]
    if (accepted === 'function') reader.callable(name, value, undefined, FUNCTION)
    else if (accepted === 'flag') reader.flag(name, value as boolean, undefined)
    else if (accepted !== 'other') reader.oneOf(name, value as string, undefined, accepted)
  }
  const { cost, attributes, decisionIdHeader: field } = options as HttpOptions<unknown>
  if (cost !== undefined && typeof cost !== 'function') checkCost(cost)
  if (attributes !== undefined && !areAttributes(attributes))
    reader.wrong('attributes', attributes, `${FUNCTION}, or an object of such functions`)
  if (field !== undefined && (typeof field !== 'string' || !FIELD_NAME.test(field)))
    reader.wrong('decisionIdHeader', field, "the name of a header field, such as 'Decision-Id'")
}

const FUNCTION = 'a function of the request'
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/

function readerOf(options: object, names: readonly string[]): OptionReader {
  return new OptionReader('rateLimit', options, names, 'accepted: an object such as { cost: 2 }')
}

/** Whether a value is a function, or an object of functions. */
function areAttributes(value: unknown): boolean {
  if (typeof value === 'function') return true
  const isTable = typeof value === 'object' && value !== null
  return isTable && Object.values(value).every((member) => typeof member === 'function')
}

/** Throws `invalid-cost` for a value that is no number of units. */
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

// Decides when a polite client sends, retries and gives up. All polite clients share these rules.
import type { Millis } from '../time/clock.ts'
import { readBackoff, type DelayOf } from './backoff.ts'
import { hintOf, waitAfterRefusal, waitForSpentQuotas, type Hint } from './hints/hint.ts'
import type { HeaderReader } from './hints/quota.ts'
import { OptionReader, readDuration } from '../options/option-reader.ts'
import { notify, POLITE_OPTIONS, type GiveUpReason, type PoliteOptions } from './polite-options.ts'
import { keyFor, type RequestTarget } from './request-key.ts'
import { retryBudget, type RetryBudget } from './retry-budget.ts'
import { readTimers, type ClientTimers } from './timers.ts'

/** The parts of a request that the rules read. */
export interface OutgoingRequest extends RequestTarget {
  readonly method: string
  /** Whether the body can be sent a second time. */
  readonly replayable: boolean
}

/** The status and headers of a response. */
export interface ResponseHead {
  readonly status: number
  readonly headers: HeaderReader
}

/** What is known of the server behind one key. */
interface OriginState {
  readonly budget: RetryBudget
  /** Requests are held back until this instant. */
  closedUntil: Millis
}

/** One request through all its attempts. */
export interface Attempt {
  readonly request: OutgoingRequest
  readonly origin: OriginState
  /** No attempt starts after this instant. */
  readonly deadline: Millis
  /** How many times the request has been sent. */
  number: number
}

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE'])

/** How many keys are remembered; the least recently used one is dropped. */
const MAX_ORIGINS = 1000

/** The rules, and what they have learned of each server. Reads clocks but never waits. */
export class RetryRules {
  readonly timers: ClientTimers
  readonly maxAttempts: number
  readonly totalTime: Millis
  private readonly options: PoliteOptions
  private readonly delayOf: DelayOf
  private readonly statuses: readonly number[]
  private readonly keyOf: (request: RequestTarget) => string
  private readonly newBudget: () => RetryBudget
  private readonly origins = new Map<string, OriginState>()

  /** `name` is the function that error messages name. */
  constructor(name: string, options: PoliteOptions) {
    const reader = new OptionReader(name, options, POLITE_OPTIONS)
    this.options = options
    this.delayOf = readBackoff(reader, options)
    this.maxAttempts = reader.number('attempts', options.attempts, 5, { least: 1, whole: true })
    this.totalTime = readDuration(reader, 'totalTime', options.totalTime, 120_000)
    this.statuses = options.statuses ?? [429, 503]
    if (!Array.isArray(this.statuses) || !this.statuses.every(Number.isInteger))
      reader.wrong('statuses', this.statuses, 'a list of status codes, such as [429, 503]')
    this.keyOf = keyFor(reader, options.key)
    for (const option of ['retry', 'onRetry', 'onWait', 'onGiveUp'] as const)
      reader.callable<unknown>(option, options[option], undefined)
    this.timers = readTimers(reader, options.timers)
    const { retryBudget: budget } = options
    if (budget !== undefined && budget !== false && (typeof budget !== 'object' || budget === null))
      reader.wrong('retryBudget', budget, 'options, a budget, or false')
    this.newBudget = budgetsOf(budget, this.timers)
  }

  /** Starts a request. */
  begin(request: OutgoingRequest): Attempt {
    const origin = this.originOf(this.keyOf(request))
    origin.budget.request()
    return { request, origin, deadline: this.timers.clock() + this.totalTime, number: 0 }
  }

  /** Milliseconds to hold a request back before its next attempt. */
  holdFor({ request, origin, deadline }: Attempt): Millis {
    const now = this.timers.clock()
    if (origin.closedUntil <= now) return 0
    const wait = origin.closedUntil - now + this.delayOf(0)
    // The request is sent now: the server's own answer helps the caller more than an error of ours.
    if (now + wait > deadline) return 0
    notify(this.options.onWait, { method: request.method, url: request.url, wait })
    return wait
  }

  /** Learns from a response. Returns the wait before the next attempt, or undefined to return the response to the caller. */
  retryDelay(attempt: Attempt, { status, headers }: ResponseHead): Millis | undefined {
    const { request, origin, number } = attempt
    const now = this.timers.clock()
    const hint = hintOf(headers, this.timers.wall())
    const spent = waitForSpentQuotas(hint)
    const isRefusal = this.isRefusal(status, hint, spent)
    const hinted =
      status === 429 ? waitAfterRefusal(hint) : isRefusal ? (hint.retryAfter ?? spent) : spent
    // No call waits longer than totalTime, so a longer hint must not hold requests back.
    if (hinted !== undefined && hinted <= this.totalTime)
      origin.closedUntil = Math.max(origin.closedUntil, now + hinted)
    if (status < 400 || (!isRefusal && hint.shouldRetry !== true)) return undefined
    // The delay on top of the hint spreads clients that were given the same instant.
    const wait = (hinted ?? 0) + this.delayOf(number - 1)
    const event = { method: request.method, url: request.url, status, attempt: number, hint }
    const reason = this.reasonToGiveUp(attempt, hint, hinted, now + wait)
    if (reason !== undefined) {
      notify(this.options.onGiveUp, { reason, ...event })
      return undefined
    }
    notify(this.options.onRetry, { ...event, wait })
    return wait
  }

  /** Why a request must not be sent more than once; undefined if it may. */
  reasonNotToRepeat(request: OutgoingRequest): 'body' | 'not-idempotent' | undefined {
    if (!request.replayable) return 'body'
    const { retry } = this.options
    const mayRepeat =
      retry === undefined
        ? IDEMPOTENT.has(request.method.toUpperCase()) ||
          Boolean(request.headers.get('idempotency-key'))
        : retry(request)
    return mayRepeat ? undefined : 'not-idempotent'
  }

  /** Takes one retry from the budget if the server named no wait and nothing else forbids the retry. */
  private reasonToGiveUp(
    { request, origin, deadline, number }: Attempt,
    hint: Hint,
    hinted: Millis | undefined,
    sendAt: Millis,
  ): GiveUpReason | undefined {
    if (hint.shouldRetry === false) return 'server'
    if (number >= this.maxAttempts) return 'attempts'
    const reason = this.reasonNotToRepeat(request)
    if (reason !== undefined) return reason
    if (sendAt > deadline) return 'total-time'
    // A retry at the instant that the server named adds no load that the server has not agreed to.
    const isScheduled = hinted !== undefined && hinted > 0
    return isScheduled || origin.budget.retry() ? undefined : 'retry-budget'
  }

  /** GitHub and others answer 403 where 429 is meant. */
  private isRefusal(status: number, hint: Hint, spent: Millis | undefined): boolean {
    if (this.statuses.includes(status)) return true
    return status === 403 && (hint.retryAfter !== undefined || spent !== undefined)
  }

  private originOf(key: string): OriginState {
    const origin = this.origins.get(key) ?? { budget: this.newBudget(), closedUntil: 0 }
    if (key === '') return origin
    // A Map keeps insertion order: reinserting keeps the least recently used key first.
    this.origins.delete(key)
    this.origins.set(key, origin)
    if (this.origins.size > MAX_ORIGINS) {
      const [oldest] = this.origins.keys()
      this.origins.delete(oldest as string)
    }
    return origin
  }
}

const UNBOUNDED: RetryBudget = { request: () => {}, retry: () => true }

function budgetsOf(
  option: PoliteOptions['retryBudget'],
  { clock }: ClientTimers,
): () => RetryBudget {
  if (option === false) return () => UNBOUNDED
  if (option !== undefined && 'retry' in option) return () => option
  const options = { clock, ...option }
  // Called once here so that invalid options throw at construction.
  retryBudget(options)
  return () => retryBudget(options)
}

// When to send, when to try again and when to give up: the rules that every polite client shares.
import type { Millis } from '../time/clock.ts'
import type { Duration } from '../time/duration.ts'
import { BACKOFF_OPTIONS, readBackoff, type BackoffOptions, type DelayOf } from './backoff.ts'
import { hintOf, spentFor, type Hint } from './hints/hint.ts'
import type { HeaderReader } from './hints/quota.ts'
import { OptionReader } from '../options/option-reader.ts'
import { keyFor, type Addressed, type KeyChoice } from './request-key.ts'
import { retryBudget, type RetryBudget, type RetryBudgetOptions } from './retry-budget.ts'
import { systemTimers, type Timers } from './timers.ts'

/** A request that may be sent again. */
export interface Errand extends Addressed {
  readonly method: string
  /** Whether its body can be sent a second time. */
  readonly replayable: boolean
}

/** What came back. */
export interface Answer {
  readonly status: number
  readonly headers: HeaderReader
}

/** Told when a refused request is about to be tried again. */
export interface RetryEvent {
  readonly method: string
  readonly url: string
  /** The answer that refused it. */
  readonly status: number
  /** How often it has been sent so far. */
  readonly attempt: number
  /** Milliseconds until it is sent again. */
  readonly wait: Millis
  /** What the server said. */
  readonly hint: Hint
}

/** Told when a request is held back before it is sent, because the server said so to an earlier one. */
export interface WaitEvent {
  readonly method: string
  readonly url: string
  readonly wait: Millis
}

/** How a polite client may differ from its defaults. */
export interface PoliteOptions extends Omit<BackoffOptions, 'attempts'> {
  /** How often a request is sent at most, the first time included. Default 5. */
  readonly attempts?: number
  /** Longest time from the call to the last attempt. A hint beyond it is not waited for. Default 2 minutes. */
  readonly totalTime?: Duration
  /** Answers that are tried again. Default 429 and 503; a 403 counts when it says that a limit was the reason. */
  readonly statuses?: readonly number[]
  /**
   * Which requests may be sent again. Default: those of idempotent methods, or with an Idempotency-Key. Bodies
   * that can be read only once are never sent again.
   */
  readonly retry?: (request: Addressed & { readonly method: string }) => boolean
  /** Retries as a share of requests, for each key; or a budget of your own; or none. */
  readonly retryBudget?: RetryBudgetOptions | RetryBudget | false
  /** Which requests wait for each other's hints. Default `credential`. */
  readonly key?: KeyChoice
  /** What it throws is ignored. */
  readonly onRetry?: (event: RetryEvent) => void
  /** What it throws is ignored. */
  readonly onWait?: (event: WaitEvent) => void
  /** For tests. Default: the runtime's. */
  readonly timers?: Timers
}

const OWN_OPTIONS = 'attempts totalTime statuses retry retryBudget key onRetry onWait timers'
const OPTIONS = [...BACKOFF_OPTIONS, ...OWN_OPTIONS.split(' ')]
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE'])

/** Keys that are remembered at once; the one used the longest ago makes room. */
const MOST_KEYS = 1000

/** What is known of the server behind one key. */
interface Neighbour {
  readonly budget: RetryBudget
  closedUntil: Millis
}

/** One request on its way, over all its attempts. */
export interface Journey {
  readonly errand: Errand
  readonly neighbour: Neighbour
  readonly deadline: Millis
  attempt: number
}

/** The rules, with what they have learned of each server. Reads clocks, but never waits itself. */
export class Manners {
  readonly timers: Timers
  readonly attempts: number
  readonly totalTime: Millis
  private readonly options: PoliteOptions
  private readonly delayOf: DelayOf
  private readonly statuses: readonly number[]
  private readonly keyOf: (request: Addressed) => string
  private readonly newBudget: () => RetryBudget
  private readonly neighbours = new Map<string, Neighbour>()

  constructor(name: string, options: PoliteOptions) {
    const reader = new OptionReader(name, options, OPTIONS)
    this.options = options
    this.delayOf = readBackoff(reader, options)
    this.attempts = reader.number('attempts', options.attempts, 5, { least: 1, whole: true })
    this.totalTime = reader.duration('totalTime', options.totalTime, 120_000)
    this.statuses = options.statuses ?? [429, 503]
    if (!Array.isArray(this.statuses) || !this.statuses.every(Number.isInteger))
      reader.wrong('statuses', this.statuses, 'a list of status codes, such as [429, 503]')
    const { key = 'credential' } = options
    if (key !== 'host' && key !== 'credential' && typeof key !== 'function')
      reader.wrong('key', key, "'host', 'credential' or a function that returns text")
    this.keyOf = keyFor(key)
    for (const option of ['retry', 'onRetry', 'onWait'] as const)
      reader.callable<unknown>(option, options[option], undefined)
    reader.shaped('timers', options.timers, ['clock', 'wall', 'set', 'clear'])
    this.timers = options.timers ?? systemTimers
    const { retryBudget: budget } = options
    if (budget !== undefined && budget !== false && (typeof budget !== 'object' || budget === null))
      reader.wrong('retryBudget', budget, 'options, a budget, or false')
    this.newBudget = budgetsOf(budget, this.timers)
  }

  /** A request sets out. */
  begin(errand: Errand): Journey {
    const neighbour = this.neighbourOf(this.keyOf(errand))
    neighbour.budget.request()
    return { errand, neighbour, deadline: this.timers.clock() + this.totalTime, attempt: 0 }
  }

  /** How long to hold a request back before it is sent for the first time. */
  holdFor({ errand, neighbour, deadline }: Journey): Millis {
    const now = this.timers.clock()
    if (neighbour.closedUntil <= now) return 0
    const wait = neighbour.closedUntil - now + this.delayOf(0)
    // A hint that cannot be waited for is the caller's to see, in the server's own words.
    if (now + wait > deadline) return 0
    notify(this.options.onWait, { method: errand.method, url: errand.url, wait })
    return wait
  }

  /** Learns from an answer. How long to wait before the next attempt; undefined when the answer is the caller's. */
  judge(journey: Journey, answer: Answer): Millis | undefined {
    const { errand, neighbour, deadline } = journey
    const now = this.timers.clock()
    const hint = hintOf(answer.headers, this.timers.wall())
    const spent = spentFor(hint)
    const isRefusal = this.isRefusal(answer.status, hint, spent)
    const told = isRefusal ? (hint.retryAfter ?? spent) : spent
    // What lies beyond any call's patience closes nothing: nobody would wait for it.
    if (told !== undefined && told <= this.totalTime)
      neighbour.closedUntil = Math.max(neighbour.closedUntil, now + told)
    if (!isRefusal && hint.shouldRetry !== true) return undefined
    if (answer.status < 400 || hint.shouldRetry === false) return undefined
    if (journey.attempt >= this.attempts || !this.mayRepeat(errand)) return undefined
    // Never before the hint; and those who were told the same instant do not come back at the same instant.
    const wait = (told ?? 0) + this.delayOf(journey.attempt - 1)
    if (now + wait > deadline || !neighbour.budget.retry()) return undefined
    const { method, url } = errand
    const { status } = answer
    notify(this.options.onRetry, { method, url, status, attempt: journey.attempt, wait, hint })
    return wait
  }

  /** Whether a request may be sent more than once. */
  mayRepeat(errand: Errand): boolean {
    if (!errand.replayable) return false
    const { retry } = this.options
    if (retry !== undefined) return retry(errand)
    return (
      IDEMPOTENT.has(errand.method.toUpperCase()) || Boolean(errand.headers.get('idempotency-key'))
    )
  }

  /** GitHub and others say 403 where they mean 429. */
  private isRefusal(status: number, hint: Hint, spent: Millis | undefined): boolean {
    if (this.statuses.includes(status)) return true
    return status === 403 && (hint.retryAfter !== undefined || spent !== undefined)
  }

  private neighbourOf(key: string): Neighbour {
    const neighbour = this.neighbours.get(key) ?? { budget: this.newBudget(), closedUntil: 0 }
    if (key === '') return neighbour
    // Put at the end, so that the first is always the one used the longest ago.
    this.neighbours.delete(key)
    this.neighbours.set(key, neighbour)
    if (this.neighbours.size > MOST_KEYS) {
      const [oldest] = this.neighbours.keys()
      this.neighbours.delete(oldest as string)
    }
    return neighbour
  }
}

const UNBOUNDED: RetryBudget = { request: () => {}, retry: () => true }

function budgetsOf(option: PoliteOptions['retryBudget'], { clock }: Timers): () => RetryBudget {
  if (option === false) return () => UNBOUNDED
  if (option !== undefined && 'retry' in option) return () => option
  const options = { clock, ...option }
  // Once now, so that a mistake in the options is thrown at construction.
  retryBudget(options)
  return () => retryBudget(options)
}

function notify<E>(listener: ((event: E) => void) | undefined, event: E): void {
  // Whoever listens has no say, neither by throwing nor by rejecting.
  void (async () => listener?.(event))().catch(() => {})
}

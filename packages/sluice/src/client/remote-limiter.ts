// A limiter whose decisions the decision service makes, over HTTP.
import type { Decision } from '../decision/decision.ts'
import { show, SluiceError } from '../errors.ts'
import type { Limiter, PaidPools } from '../limiter/limiter.ts'
import { OptionReader, readDuration } from '../options/option-reader.ts'
import type { Attributes } from '../policy/policy.ts'
import type { BreakerOptions } from '../resilience/circuit-breaker.ts'
import { CallGuard } from '../resilience/call-guard.ts'
import type { OnEvent } from '../resilience/events.ts'
import { checkBreaker, TIMEOUT } from '../resilience/options.ts'
import type { Millis } from '../time/clock.ts'
import type { Duration } from '../time/duration.ts'
import { afterTurn } from '../time/timers.ts'
import { CheckBatcher, type RemoteOperation } from './check-batcher.ts'
import type { Fetch } from './polite.ts'
import { readDecision } from './remote-decision.ts'
import { RemoteFallback, warnOfService, type LocalLimiter } from './remote-fallback.ts'
import { readTimers, type ClientTimers } from './timers.ts'

/**
 * A {@link Limiter} whose policy only the service knows, so that it cannot describe it.
 *
 * @example
 * ```ts
 * const limiter: RemoteLimiter = remoteLimiter('http://127.0.0.1:8080', { policy: 'api' })
 * ```
 */
export type RemoteLimiter = Omit<Limiter, 'describe' | 'checkNow'>

/**
 * Options of {@link remoteLimiter}.
 *
 * @example
 * ```ts
 * remoteLimiter('http://127.0.0.1:8080', { policy: 'api', timeout: '100ms' })
 * ```
 */
export interface RemoteLimiterOptions {
  /** The name of the policy. Default: the service's only policy. */
  readonly policy?: string
  /** How long a call waits for the service before it rejects with `store-timeout`. Default 100 ms. */
  readonly timeout?: Duration
  /** Headers of every request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * A limiter of this process that answers while the service is unreachable, slow or wrong. Its decisions are
   * `degraded`. Default: the call rejects.
   */
  readonly fallback?: LocalLimiter
  /** When to stop sending to a failing service, and when to try again. */
  readonly breaker?: BreakerOptions
  /** Receives the transitions of the breaker. Default: one console warning when it opens, one when it closes. */
  readonly onEvent?: OnEvent
  /** Default: the runtime's fetch, which keeps connections open. */
  readonly fetch?: Fetch
  /** For tests. Default: the runtime's timers. */
  readonly timers?: ClientTimers
}

const OPTIONS = [
  'policy',
  'timeout',
  'headers',
  'fallback',
  'breaker',
  'onEvent',
  'fetch',
  'timers',
]

/**
 * A {@link Limiter} over the HTTP API of the decision service. All calls of one event-loop turn share one request.
 * If the service is unreachable, does not answer in time or sends something else than a decision, `fallback`
 * answers; without it the call rejects. The service may have charged a call that timed out.
 *
 * @example
 * ```ts
 * const fallback = createLimiter({ limit: '20/min' })
 * const limiter = remoteLimiter('http://127.0.0.1:8080', { policy: 'api', fallback })
 * const { allowed } = await limiter.check('user:42')
 * ```
 */
export function remoteLimiter(
  url: string | URL,
  options: RemoteLimiterOptions = {},
): RemoteLimiter {
  const reader = new OptionReader('remoteLimiter', options, OPTIONS)
  const base = baseOf(reader, String(url))
  checkHeaders(reader, options.headers)
  const { policy, headers } = options
  if (policy !== undefined && (typeof policy !== 'string' || policy === ''))
    reader.wrong('policy', policy, 'the name of a policy')
  const timers = readTimers(reader, options.timers)
  const timeout = readDuration(reader, 'timeout', options.timeout, TIMEOUT)
  const fetch = reader.callable('fetch', options.fetch, globalThis.fetch)
  reader.shaped('fallback', options.fallback as Limiter | undefined, ['check', 'refund'])
  checkBreaker(reader.name, options.breaker)
  const guard = new CallGuard({
    timeout,
    breaker: options.breaker,
    onEvent: reader.callable<OnEvent>('onEvent', options.onEvent, warnOfService),
    clock: timers.clock,
    // Stopped after each last answer: a timer that stays would keep the async context of the request that started it.
    timers: {
      start: (run, after) => [timers.set(run, after)],
      stop: (timer) => timers.clear((timer as unknown[])[0]),
      afterTurn,
    },
    random: Math.random,
  })
  const batcher = new CheckBatcher({ base, headers, fetch, guard })
  const fallback = options.fallback && new RemoteFallback(options.fallback, guard.firstShard)
  return new HttpLimiter(batcher, policy, fallback)
}

/** The address without a slash at its end. */
function baseOf(reader: OptionReader, url: string): string {
  const accepted = "an address such as 'http://127.0.0.1:8080', without a query"
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) reader.wrong('url', url, accepted)
  const parsed = new URL(url)
  if (parsed.username !== '' || parsed.password !== '') {
    parsed.username = ''
    parsed.password = ''
    reader.wrong('url', parsed.href, `${accepted}; pass credentials in headers`)
  }
  if (/[?#]/.test(url)) reader.wrong('url', url, accepted)
  return url.replace(/\/+$/, '')
}

/** Invalid headers would otherwise look like an unreachable service. Messages show no values, which may be secrets. */
function checkHeaders(reader: OptionReader, headers: RemoteLimiterOptions['headers']): void {
  if (headers === undefined) return
  const accepted = 'an object of names and values that HTTP allows'
  if (typeof headers !== 'object' || headers === null) reader.wrong('headers', '…', accepted)
  try {
    new Headers(headers)
  } catch {
    reader.wrong('headers', Object.keys(headers), accepted)
  }
}

class HttpLimiter implements RemoteLimiter {
  private readonly batcher: CheckBatcher
  private readonly policy: string | undefined
  private readonly fallback: RemoteFallback | undefined
  private isClosed = false

  constructor(
    batcher: CheckBatcher,
    policy: string | undefined,
    fallback: RemoteFallback | undefined,
  ) {
    this.batcher = batcher
    this.policy = policy
    this.fallback = fallback
  }

  async check(
    attributes: Attributes | string,
    cost?: number,
    signal?: AbortSignal,
  ): Promise<Decision> {
    try {
      return readDecision(await this.send('check', attributes, { cost }, signal))
    } catch (error) {
      if (this.fallback === undefined || signal?.aborted) throw error
      return this.fallback.check(error, attributes, cost)
    }
  }

  async peek(attributes: Attributes | string, cost?: number): Promise<Decision> {
    try {
      return readDecision(await this.send('peek', attributes, { cost }))
    } catch (error) {
      if (this.fallback === undefined) throw error
      return this.fallback.peek(error, attributes, cost)
    }
  }

  async refund(
    attributes: Attributes | string,
    cost?: number,
    takenAt?: Millis,
    pools?: PaidPools,
  ): Promise<void> {
    if (this.fallback?.tookAt(takenAt) === true)
      return this.fallback.refund(attributes, cost, takenAt)
    await this.send('refund', attributes, { cost, takenAt, pools })
  }

  async reset(attributes: Attributes | string): Promise<void> {
    await Promise.all([this.send('reset', attributes, {}), this.fallback?.reset(attributes)])
  }

  async close(): Promise<void> {
    this.isClosed = true
  }

  private send(
    operation: RemoteOperation,
    attributes: Attributes | string,
    more: {
      readonly cost?: number | undefined
      readonly takenAt?: number | undefined
      readonly pools?: PaidPools | undefined
    },
    signal?: AbortSignal,
  ): Promise<unknown> {
    if (this.isClosed)
      throw new SluiceError('limiter-closed', 'the limiter is closed; create a new one')
    const { cost } = more
    if (cost !== undefined && !(Number.isSafeInteger(cost) && cost >= 0)) {
      throw new SluiceError(
        'invalid-cost',
        `cost is ${show(cost)}; accepted: a whole number of units, from 0 to 2^53 - 1`,
      )
    }
    const target = typeof attributes === 'string' ? { key: attributes } : { attributes }
    const json = toJson({ policy: this.policy, ...target, ...more })
    return this.batcher.send(operation, json, signal)
  }
}

function toJson(check: object): string {
  try {
    return JSON.stringify(check)
  } catch (cause) {
    const message = 'the attributes cannot be serialised as JSON; accepted: plain data'
    throw new SluiceError('invalid-attributes', message, { cause })
  }
}

// A limiter whose decisions the decision service makes, over HTTP.
import type { Decision } from '../decision/decision.ts'
import { show, SluiceError } from '../errors.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { Attributes } from '../policy/policy.ts'
import type { Millis } from '../time/clock.ts'
import type { Duration } from '../time/duration.ts'
import { CheckBatcher, type RemoteOperation } from './check-batcher.ts'
import { OptionReader } from '../options/option-reader.ts'
import type { Fetch } from './polite.ts'
import { readDecision } from './remote-decision.ts'
import { readTimers, type ClientTimers } from './timers.ts'

/** Options of {@link remoteLimiter}. */
export interface RemoteLimiterOptions {
  /** The name of the policy. Default: the service's only policy. */
  readonly policy?: string
  /** How long a call waits for the service before it rejects with `store-timeout`. Default 100 ms. */
  readonly timeout?: Duration
  /** Headers of every request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Default: the runtime's fetch, which keeps connections open. */
  readonly fetch?: Fetch
  /** For tests. Default: the runtime's timers. */
  readonly timers?: ClientTimers
}

const OPTIONS = ['policy', 'timeout', 'headers', 'fetch', 'timers']

/**
 * A {@link Limiter} over the HTTP API of the decision service. All calls of one event-loop turn share one request.
 * If the service is unreachable or does not answer in time, the call rejects with a transient error. The service
 * may have charged a call that timed out.
 *
 * @example
 * ```ts
 * const limiter = remoteLimiter('http://127.0.0.1:8080', { policy: 'api' })
 * const { allowed } = await limiter.check({ user: '42' })
 * ```
 */
export function remoteLimiter(url: string | URL, options: RemoteLimiterOptions = {}): Limiter {
  const reader = new OptionReader('remoteLimiter', options, OPTIONS)
  const base = baseOf(reader, String(url))
  checkHeaders(reader, options.headers)
  const { policy, headers } = options
  if (policy !== undefined && (typeof policy !== 'string' || policy === ''))
    reader.wrong('policy', policy, 'the name of a policy')
  const timers = readTimers(reader, options.timers)
  const timeout = reader.duration('timeout', options.timeout, 100)
  const fetch = reader.callable('fetch', options.fetch, globalThis.fetch)
  return new RemoteLimiter(new CheckBatcher({ base, headers, timeout, fetch, timers }), policy)
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

class RemoteLimiter implements Limiter {
  private readonly batcher: CheckBatcher
  private readonly policy: string | undefined
  private isClosed = false

  constructor(batcher: CheckBatcher, policy: string | undefined) {
    this.batcher = batcher
    this.policy = policy
  }

  async check(
    attributes: Attributes | string,
    cost?: number,
    signal?: AbortSignal,
  ): Promise<Decision> {
    return readDecision(await this.send('check', attributes, { cost }, signal))
  }

  async peek(attributes: Attributes | string, cost?: number): Promise<Decision> {
    return readDecision(await this.send('peek', attributes, { cost }))
  }

  async refund(attributes: Attributes | string, cost?: number, takenAt?: Millis): Promise<void> {
    await this.send('refund', attributes, { cost, takenAt })
  }

  async reset(attributes: Attributes | string): Promise<void> {
    await this.send('reset', attributes, {})
  }

  async close(): Promise<void> {
    this.isClosed = true
  }

  private send(
    operation: RemoteOperation,
    attributes: Attributes | string,
    more: { readonly cost?: number | undefined; readonly takenAt?: number | undefined },
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

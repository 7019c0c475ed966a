// A limiter whose decisions are made elsewhere: by the decision service, over HTTP.
import type { Decision } from '../decision/decision.ts'
import { show, SluiceError } from '../errors.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { Attributes } from '../policy/policy.ts'
import type { Millis } from '../time/clock.ts'
import type { Duration } from '../time/duration.ts'
import { OptionReader } from '../options/option-reader.ts'
import type { Fetch } from './polite.ts'
import { Postman, type Operation } from './postman.ts'
import { systemTimers, type Timers } from './timers.ts'

/** How a remote limiter may differ from its defaults. */
export interface RemoteLimiterOptions {
  /** The policy to decide by. Default: the service's only one. */
  readonly policy?: string
  /** How long to wait for the service before a call is given up with `store-timeout`. Default 100 ms. */
  readonly timeout?: Duration
  /** Headers of every request, such as an authorization. */
  readonly headers?: Readonly<Record<string, string>>
  /** Default: the runtime's, which keeps connections open. */
  readonly fetch?: Fetch
  /** For tests. Default: the runtime's. */
  readonly timers?: Timers
}

const OPTIONS = ['policy', 'timeout', 'headers', 'fetch', 'timers']

/**
 * A {@link Limiter} over the HTTP API of the decision service. All calls of one turn of the event loop travel in
 * one request. A service that cannot be asked, or does not answer in time, is a transient error, so that a breaker
 * and a fallback fit around it as around any limiter. A call that was given up may have been charged.
 */
export function remoteLimiter(url: string | URL, options: RemoteLimiterOptions = {}): Limiter {
  const reader = new OptionReader('remoteLimiter', options, OPTIONS)
  const base = baseOf(reader, String(url))
  checkHeaders(reader, options.headers)
  const { policy, headers, timers = systemTimers } = options
  if (policy !== undefined && (typeof policy !== 'string' || policy === ''))
    reader.wrong('policy', policy, 'the name of a policy')
  reader.shaped('timers', options.timers, ['clock', 'wall', 'set', 'clear'])
  const timeout = reader.duration('timeout', options.timeout, 100)
  const fetch = reader.callable('fetch', options.fetch, globalThis.fetch)
  return new Remote(new Postman({ base, headers, timeout, fetch, timers }), policy)
}

/** The address that paths are put behind. */
function baseOf(reader: OptionReader, url: string): string {
  const accepted = "an address such as 'http://127.0.0.1:8080', without a query"
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) reader.wrong('url', url, accepted)
  const parsed = new URL(url)
  if (parsed.username !== '' || parsed.password !== '') {
    parsed.username = ''
    parsed.password = ''
    reader.wrong('url', parsed.href, `${accepted}; credentials belong into headers`)
  }
  if (/[?#]/.test(url)) reader.wrong('url', url, accepted)
  return url.replace(/\/+$/, '')
}

/** Headers that cannot be sent would look like a service that cannot be reached. Values may be secrets. */
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

class Remote implements Limiter {
  private readonly postman: Postman
  private readonly policy: string | undefined
  private isClosed = false

  constructor(postman: Postman, policy: string | undefined) {
    this.postman = postman
    this.policy = policy
  }

  async check(
    attributes: Attributes | string,
    cost?: number,
    signal?: AbortSignal,
  ): Promise<Decision> {
    return decisionOf(await this.ask('check', attributes, { cost }, signal))
  }

  async peek(attributes: Attributes | string, cost?: number): Promise<Decision> {
    return decisionOf(await this.ask('peek', attributes, { cost }))
  }

  async refund(attributes: Attributes | string, cost?: number, takenAt?: Millis): Promise<void> {
    await this.ask('refund', attributes, { cost, takenAt })
  }

  async reset(attributes: Attributes | string): Promise<void> {
    await this.ask('reset', attributes, {})
  }

  async close(): Promise<void> {
    this.isClosed = true
  }

  private ask(
    operation: Operation,
    attributes: Attributes | string,
    more: { readonly cost?: number | undefined; readonly takenAt?: number | undefined },
    signal?: AbortSignal,
  ): Promise<unknown> {
    if (this.isClosed)
      throw new SluiceError('limiter-closed', 'the limiter is closed; make a new one')
    const { cost } = more
    if (cost !== undefined && !(Number.isSafeInteger(cost) && cost >= 0)) {
      throw new SluiceError(
        'invalid-cost',
        `cost is ${show(cost)}; accepted: a whole number of units, from 0 to 2^53 - 1`,
      )
    }
    const subject = typeof attributes === 'string' ? { key: attributes } : { attributes }
    const text = textOf({ policy: this.policy, ...subject, ...more })
    return this.postman.post(operation, text, signal)
  }
}

function textOf(check: object): string {
  try {
    return JSON.stringify(check)
  } catch (cause) {
    const message = 'the attributes cannot be written as JSON; accepted: plain data'
    throw new SluiceError('invalid-attributes', message, { cause })
  }
}

/** The decision as data; JSON has no Infinity and says null. */
function decisionOf(answer: unknown): Decision {
  const decision = answer as Decision | null
  if (typeof decision !== 'object' || typeof decision?.allowed !== 'boolean') {
    const message = `the service answered ${show(answer)}; accepted: a decision`
    throw new SluiceError('store-failed', message)
  }
  return { ...decision, remaining: decision.remaining ?? Infinity }
}

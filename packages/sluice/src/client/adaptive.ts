// A fetch that finds the server's limit and stays just below it.
import type { Millis } from '../time/clock.ts'
import type { Duration } from '../time/duration.ts'
import { limit as limitOf, type RateText } from '../limit/limit.ts'
import { hintOf } from './hints/hint.ts'
import { learnedGate, type LearnedGate } from './learned-gate.ts'
import { LearnedRate } from './learned-rate.ts'
import { OptionReader, readDuration } from '../options/option-reader.ts'
import { outgoingRequest, signalOf, type Fetch } from './polite.ts'
import { TurnQueue } from './turn-queue.ts'
import { keyFor, type RequestTarget, type KeyChoice } from './request-key.ts'
import { readTimers, type ClientTimers } from './timers.ts'

/**
 * Options of {@link adaptive}.
 *
 * @example
 * ```ts
 * adaptive(fetch, { start: '20/s', maxWait: '10s' })
 * ```
 */
export interface AdaptiveOptions {
  /** Which requests share a learned rate. Default `credential`: same host and same credential. */
  readonly key?: KeyChoice
  /** The rate before the first response. Default `10/s`. */
  readonly start?: RateText
  /** The longest wait for a turn. Default 1 minute. */
  readonly maxWait?: Duration
  /** How many requests may wait at once, per key. Default 10,000. */
  readonly maxQueue?: number
  /** For tests. Default: the runtime's timers. */
  readonly timers?: ClientTimers
}

/**
 * A fetch with its learned rates.
 *
 * @example
 * ```ts
 * const send: AdaptiveFetch = adaptive(fetch, { key: 'host' })
 * const perSecond = send.rates().get('api.example.com')
 * ```
 */
export interface AdaptiveFetch extends Fetch {
  /** The present rate of each key, in requests per second. */
  rates(): ReadonlyMap<string, number>
}

const OPTIONS = ['key', 'start', 'maxWait', 'maxQueue', 'timers']

/** How many servers are remembered; the least recently used idle one is dropped. */
const MAX_SERVERS = 1000

/** One server, and the requests that wait for it. */
interface Server {
  readonly rate: LearnedRate
  readonly gate: LearnedGate
  readonly queue: TurnQueue
}

/**
 * A fetch that learns the server's limit from its headers and refusals, and delays requests so that hardly any is
 * refused. It never retries: wrap it in {@link polite} for that.
 *
 * @example
 * ```ts
 * const send = polite(adaptive(fetch))
 * const response = await send('https://api.example.com/things')
 * ```
 */
export function adaptive(
  fetch: Fetch = globalThis.fetch,
  options: AdaptiveOptions = {},
): AdaptiveFetch {
  const reader = new OptionReader('adaptive', options, OPTIONS)
  const { quota, window } = limitOf(options.start ?? '10/s')
  if (quota === 0) reader.wrong('start', options.start, 'a rate above 0')
  const maxWait = readDuration(reader, 'maxWait', options.maxWait, 60_000)
  const maxQueue = reader.number('maxQueue', options.maxQueue, 10_000, { least: 1, whole: true })
  const timers = readTimers(reader, options.timers)
  const keyOf = keyFor(reader, options.key)
  const servers = new Map<string, Server>()

  /** Undefined for a request with an empty key, which shares no rate. */
  const serverOf = (request: RequestTarget): Server | undefined => {
    const name = keyOf(request)
    if (name === '') return undefined
    const known = servers.get(name)
    // A Map keeps insertion order: reinserting keeps the least recently used key first.
    servers.delete(name)
    const server = known ?? makeServer(quota / window, { maxWait, maxQueue, timers })
    servers.set(name, server)
    for (const [oldest, { queue }] of servers) {
      if (servers.size <= MAX_SERVERS) break
      if (queue.size === 0) servers.delete(oldest)
    }
    return server
  }

  const send: Fetch = async (input, init) => {
    const server = serverOf(outgoingRequest(input, init))
    if (server === undefined) return fetch(input, init)
    const { rate, gate, queue } = server
    await queue.take(1, signalOf(input, init) ?? undefined)
    const sentAt = timers.clock()
    const response = await fetch(input, init)
    const hint = hintOf(response.headers, timers.wall())
    const refused = isRefusal(response.status, hint.retryAfter)
    rate.learn({ sentAt, refused, hint }, timers.clock(), gate.wasBusy())
    if (gate.adjust()) queue.recheck()
    return response
  }
  const rates = (): ReadonlyMap<string, number> =>
    new Map([...servers].map(([name, { rate }]) => [name, rate.perMillis * 1000]))
  return Object.assign(send, { rates })
}

function makeServer(
  start: number,
  options: { maxWait: Millis; maxQueue: number; timers: ClientTimers },
): Server {
  const rate = new LearnedRate(start)
  const gate = learnedGate(rate, options.timers.clock)
  return { rate, gate, queue: new TurnQueue(gate, options) }
}

function isRefusal(status: number, retryAfter: Millis | undefined): boolean {
  return status === 429 || (retryAfter !== undefined && (status === 503 || status === 403))
}

// A fetch that finds the server's limit by itself and stays just below it.
import type { Millis } from '../time/clock.ts'
import type { Duration } from '../time/duration.ts'
import { limit as limitOf, type RateText } from '../limit/limit.ts'
import { hintOf } from './hints/hint.ts'
import { learnedGate, type LearnedGate } from './learned-gate.ts'
import { LearnedRate } from './learned-rate.ts'
import { OptionReader } from '../options/option-reader.ts'
import { errandOf, type Fetch } from './polite.ts'
import { Queue } from './queue.ts'
import { keyFor, type Addressed, type KeyChoice } from './request-key.ts'
import { systemTimers, type Timers } from './timers.ts'

/** How an adaptive fetch may differ from its defaults. */
export interface AdaptiveOptions {
  /** Which requests share what is learned. Default `credential`: the same host with the same credential. */
  readonly key?: KeyChoice
  /** The rate before anything is known. Default `10/s`. */
  readonly start?: RateText
  /** Longest wait for a turn. Default 1 minute. */
  readonly maxWait?: Duration
  /** Most requests that wait at once, for each key. Default 10,000. */
  readonly maxQueue?: number
  /** For tests. Default: the runtime's. */
  readonly timers?: Timers
}

/** A fetch that knows how fast it may go. */
export interface AdaptiveFetch extends Fetch {
  /** Requests per second that each key may send now, as far as is known. */
  rates(): ReadonlyMap<string, number>
}

const OPTIONS = ['key', 'start', 'maxWait', 'maxQueue', 'timers']

/** Servers that are remembered at once; the one that was used the longest ago makes room. */
const MOST_KEYS = 1000

/** One server, and those who wait for it. */
interface Server {
  readonly rate: LearnedRate
  readonly gate: LearnedGate
  readonly queue: Queue
}

/**
 * A fetch that learns the server's limit from its headers and its refusals, and holds requests back so that next
 * to none is refused. It tries nothing again: put {@link polite} around it for that.
 */
export function adaptive(
  fetch: Fetch = globalThis.fetch,
  options: AdaptiveOptions = {},
): AdaptiveFetch {
  const reader = new OptionReader('adaptive', options, OPTIONS)
  const { quota, window } = limitOf(options.start ?? '10/s')
  if (quota === 0) reader.wrong('start', options.start, 'a rate above 0')
  const maxWait = reader.duration('maxWait', options.maxWait, 60_000)
  const maxQueue = reader.number('maxQueue', options.maxQueue, 10_000, { least: 1, whole: true })
  reader.shaped('timers', options.timers, ['clock', 'wall', 'set', 'clear'])
  const { key = 'credential', timers = systemTimers } = options
  if (key !== 'host' && key !== 'credential' && typeof key !== 'function')
    reader.wrong('key', key, "'host', 'credential' or a function that returns text")
  const keyOf = keyFor(key)
  const servers = new Map<string, Server>()

  /** Undefined for a request that shares with nobody: nothing is known of its server, and nothing will be. */
  const serverOf = (request: Addressed): Server | undefined => {
    const name = keyOf(request)
    if (name === '') return undefined
    const known = servers.get(name)
    // Put at the end, so that the first is always the one used the longest ago.
    servers.delete(name)
    const server = known ?? makeServer(quota / window, { maxWait, maxQueue, timers })
    servers.set(name, server)
    for (const [oldest, { queue }] of servers) {
      if (servers.size <= MOST_KEYS) break
      if (queue.size === 0) servers.delete(oldest)
    }
    return server
  }

  const send: Fetch = async (input, init) => {
    const errand = errandOf(input, init)
    const signal = signalOf(input, init)
    const server = serverOf(errand)
    if (server === undefined) return fetch(input, init)
    const { rate, gate, queue } = server
    await queue.take(1, signal)
    const sentAt = timers.clock()
    const response = await fetch(input, init)
    const hint = hintOf(response.headers, timers.wall())
    const refused = isRefusal(response.status, hint.retryAfter)
    rate.learn({ sentAt, refused, hint }, timers.clock(), gate.wasBusy())
    if (gate.adjust()) queue.poke()
    return response
  }
  const rates = (): ReadonlyMap<string, number> =>
    new Map([...servers].map(([name, { rate }]) => [name, rate.perMillis * 1000]))
  return Object.assign(send, { rates })
}

function makeServer(
  start: number,
  options: { maxWait: Millis; maxQueue: number; timers: Timers },
): Server {
  const rate = new LearnedRate(start)
  const gate = learnedGate(rate, options.timers.clock)
  return { rate, gate, queue: new Queue(gate, options) }
}

function isRefusal(status: number, retryAfter: Millis | undefined): boolean {
  return status === 429 || (retryAfter !== undefined && (status === 503 || status === 403))
}

/** The signal that ends a request's wait. */
function signalOf(
  input: Parameters<Fetch>[0],
  init: Parameters<Fetch>[1],
): AbortSignal | undefined {
  const own = typeof input === 'object' && 'signal' in input ? input.signal : undefined
  return (init?.signal === undefined ? own : init.signal) ?? undefined
}

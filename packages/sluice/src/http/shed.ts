// Sheds load of one Node server before it is overloaded: the least important requests first, before their bodies are read.
import { OptionReader } from '../options/option-reader.ts'
import { backgroundTimers, type Timers } from '../time/timers.ts'
import { busyTime as busyTimeOfThread } from '../time/busy-time.ts'
import { preciseClock, type Millis } from '../time/clock.ts'
import { LoadEstimate } from './load-estimate.ts'
import type { NodeRequest } from './node-adapter.ts'
import { priorityReader, type Priority, type PriorityOptions } from './priority.ts'

/**
 * Options of `shed`; all have defaults.
 *
 * @example
 * ```ts
 * shed({ onShed: (request, priority) => console.log('shed', priority, request.url) })
 * ```
 */
export interface ShedOptions<Q extends NodeRequest = NodeRequest> extends PriorityOptions<Q> {
  /** Requests that always pass. Default: those for `/health`, `/healthz`, `/livez`, `/readyz`, `/ready` and `/live`. */
  readonly always?: (request: Q) => boolean
  /** The delay of the event loop, in milliseconds, at which the server counts as full. Default 50. */
  readonly maxDelay?: Millis
  /** Receives each request that was shed. */
  readonly onShed?: (request: Q, priority: Priority, load: ShedLoad) => void
  /** For tests: the time, in milliseconds with fractions. */
  readonly clock?: () => number
  /** For tests: for how many milliseconds the thread was busy so far. */
  readonly busyTime?: () => number
  /** For tests: timers. */
  readonly timers?: Timers
}

/**
 * As much of Node's response as is used.
 *
 * @example
 * ```ts
 * const end = (response: ShedResponse) => response.end('done')
 * ```
 */
export interface ShedResponse {
  writeHead(status: number, fields: Readonly<Record<string, string>>): unknown
  end(body: string): unknown
  once(event: 'close', listener: () => void): unknown
  /** Whether the client has left. */
  readonly closed?: boolean
}

/**
 * How loaded the server is.
 *
 * @example
 * ```ts
 * const { inFlight, room, busy, pressure }: ShedLoad = shed().load()
 * ```
 */
export interface ShedLoad {
  readonly inFlight: number
  /** Requests that it can have under way while its thread is full; Infinity until it was measured. */
  readonly room: number
  /** The part of the last 100 ms or so in which its thread was busy, from 0 to 1. From 0.9 on the thread is full. */
  readonly busy: number
  /** How full it is: 1 is full. Requests under way count only while its thread is full. */
  readonly pressure: number
  /** Requests shed so far, by their priority. */
  readonly shed: Readonly<Record<Priority, number>>
}

/**
 * Middleware that sheds load, and says how loaded the server is.
 *
 * @example
 * ```ts
 * const shedder: Shedder<IncomingMessage, ServerResponse> = shed()
 * setInterval(() => console.log(shedder.load().pressure), 10_000)
 * ```
 */
export interface Shedder<Q, S> {
  (request: Q, response: S, next: () => void): void
  /**
   * A handler for `createServer` that sheds before another one sees the request. A refusal inside of Express costs 88 µs,
   * in front of it 19 µs, which matters under overload: most requests are refusals then.
   */
  inFrontOf(handler: (request: Q, response: S) => unknown): (request: Q, response: S) => void
  load(): ShedLoad
  /** Ends its timer. */
  close(): void
}

/** The pressure from which on requests of a priority are shed. */
const CUT_OFF: Readonly<Record<Priority, number>> = { background: 0.7, normal: 1, critical: 4 }
/** Milliseconds between two measurements of the event loop. */
const SAMPLE_EVERY: Millis = 20
const CHOICES = ['priority', 'routes', 'header', 'always', 'maxDelay', 'onShed']
const FOR_TESTS = ['clock', 'busyTime', 'timers']
const HEALTH = /^\/(?:health|healthz|livez|readyz|ready|live)(?:\?|$)/

/**
 * Sheds requests with 503 and `Retry-After` while the server is overloaded: `createServer(shed().inFrontOf(app))`, in front
 * of any handler of Node. Inside of Express, `app.use(shed())` does the same, and each refusal costs several times as much.
 *
 * @example
 * ```ts
 * const shedder = shed<IncomingMessage, ServerResponse>({ onShed: () => console.warn('overloaded') })
 * createServer(shedder.inFrontOf(app)).listen(8080)
 * ```
 */
export function shed<Q extends NodeRequest, S extends ShedResponse>(
  options: ShedOptions<Q> = {},
): Shedder<Q, S> {
  const reader = new OptionReader('shed', options, [...CHOICES, ...FOR_TESTS])
  const priorityOf = priorityReader(options, reader)
  const always = reader.callable('always', options.always, isHealthCheck)
  const clock = reader.callable('clock', options.clock, preciseClock)
  const busyTime = reader.callable('busyTime', options.busyTime, busyTimeOfThread)
  const maxDelay = reader.number('maxDelay', options.maxDelay, 50, { least: 1, most: 60_000 })
  const onShed = reader.callable('onShed', options.onShed, undefined)
  const estimate = new LoadEstimate(clock(), maxDelay, busyTime())
  const counts: Record<Priority, number> = { critical: 0, normal: 0, background: 0 }
  const load = (): ShedLoad => {
    const { inFlight, room, busy, pressure } = estimate
    return { inFlight, room, busy, pressure, shed: { ...counts } }
  }
  const { timers = backgroundTimers } = options
  const close = watchLoop(estimate, { clock, busyTime, timers })
  /** Requests of this turn that critical ones may overtake, and that wait until its input has been handled. */
  let deferred = 0
  const endTurn = (): void => {
    if (deferred === 0) estimate.endTurn(clock())
    else estimate.startDeferred(clock())
  }

  const middleware = (request: Q, response: S, next: () => void): void => {
    if (always(request)) return next()
    const priority = priorityOf(request)
    const start = clock()
    const isCritical = priority === 'critical'
    if (estimate.noteArrival(start, isCritical)) timers.afterTurn(endTurn)
    const arrival = { request, response, next, priority, start }
    if (isCritical || !estimate.isOverloaded)
      return decide(arrival, estimate.pressureAt(start, isCritical))
    // A critical request that is read later in this turn would wait for this one. Each has a callback of its own, which
    // keeps its async context.
    deferred += 1
    let hasLeft = false
    // A response of HTTP/2 has no `closed`, and no second `close`: the request would count as under way for ever.
    response.once('close', () => (hasLeft = true))
    timers.afterTurn(() => {
      deferred -= 1
      try {
        if (!hasLeft) decide(arrival, estimate.pressureOfDeferred(clock()))
      } finally {
        if (deferred === 0) estimate.endTurn(clock())
      }
    })
  }

  const decide = (arrival: Arrival<Q, S>, pressure: number): void => {
    const { request, response, next, priority, start } = arrival
    if (response.closed === true) return
    if (pressure >= CUT_OFF[priority]) {
      counts[priority] += 1
      refuse(response)
      onShed?.(request, priority, load())
      return
    }
    estimate.inFlight += 1
    let isOpen = true
    // `close` comes after every response, also one whose client left.
    response.once('close', () => {
      if (!isOpen) return
      isOpen = false
      const now = clock()
      estimate.noteAnswer(now - start, now)
    })
    next()
  }
  const inFrontOf: Shedder<Q, S>['inFrontOf'] = (handler) => (request, response) =>
    middleware(request, response, () => void handler(request, response))
  return Object.assign(middleware, { inFrontOf, load, close })
}

interface Arrival<Q, S> {
  readonly request: Q
  readonly response: S
  readonly next: () => void
  readonly priority: Priority
  readonly start: Millis
}

interface Watch {
  readonly clock: () => number
  readonly busyTime: () => number
  readonly timers: Timers
}

/** Measures how busy the event loop is, and its delay, by how late a repeating timer fires. */
function watchLoop(estimate: LoadEstimate, { clock, busyTime, timers }: Watch): () => void {
  let due = clock() + SAMPLE_EVERY
  let timer: unknown
  const takeSample = (): void => {
    const now = clock()
    estimate.noteSample(now, Math.max(0, now - due), busyTime())
    due = now + SAMPLE_EVERY
    timer = timers.start(takeSample, SAMPLE_EVERY)
  }
  timer = timers.start(takeSample, SAMPLE_EVERY)
  return () => timers.stop(timer)
}

const PROBLEM = JSON.stringify({
  type: 'about:blank',
  title: 'Service Unavailable',
  status: 503,
  detail: 'The server is overloaded. Try again later.',
})

/** The fields of a refusal, made once. Between one and three seconds, so that refused clients do not retry together. */
const REFUSALS = ['1', '2', '3'].map((seconds) => ({
  'Retry-After': seconds,
  'Content-Type': 'application/problem+json',
  'Content-Length': String(PROBLEM.length),
}))

/** Writes the head at once: with fields set one by one, a refusal takes about an eighth more of the processor. */
function refuse(response: ShedResponse): void {
  response.writeHead(503, REFUSALS[Math.floor(Math.random() * REFUSALS.length)]!)
  response.end(PROBLEM)
}

function isHealthCheck({ url = '' }: NodeRequest): boolean {
  return HEALTH.test(url)
}

// Polite retries for undici: an interceptor for `dispatcher.compose`.
import type { Millis } from '../time/clock.ts'
import type { HeaderReader } from './hints/quota.ts'
import { plainHeaders } from './plain-headers.ts'
import type { PoliteOptions } from './polite-options.ts'
import { isReplayable } from './replayable.ts'
import { RetryRules, type Attempt } from './retry-rules.ts'
import type { ClientTimers } from './timers.ts'

/** The fields that are read from a request's options. */
interface DispatchOptionsLike {
  readonly origin?: string | URL
  readonly path: string
  readonly method: string
  readonly body?: unknown
  readonly headers?: unknown
}

/** Undici's controller of one request. */
interface ControllerLike {
  pause(): void
  resume(): void
  abort(reason: Error): void
  readonly paused: boolean
  readonly aborted: boolean
  readonly reason: Error | null
}

/** Undici's handler of one request. */
interface HandlerLike {
  onRequestStart?(controller: ControllerLike, context: unknown): void
  onRequestUpgrade?(
    controller: ControllerLike,
    status: number,
    headers: object,
    socket: unknown,
  ): void
  onResponseStart?(
    controller: ControllerLike,
    status: number,
    headers: object,
    message?: string,
  ): void
  onResponseData?(controller: ControllerLike, chunk: { readonly length: number }): void
  onResponseEnd?(controller: ControllerLike, trailers: object): void
  onResponseError?(controller: ControllerLike, error: Error): void
}

type Dispatch = (options: DispatchOptionsLike, handler: HandlerLike) => boolean

/** Undici's own dispatch function; the names of its types differ between versions. */
type AnyDispatch = (options: never, handler: never) => boolean

/**
 * An undici interceptor that waits and retries like {@link polite}.
 *
 * @example
 * ```ts
 * const dispatcher = new Agent().compose(politeUndici())
 * const response = await fetch('https://api.example.com/things', { dispatcher })
 * ```
 */
export function politeUndici(
  options: PoliteOptions = {},
): <D extends AnyDispatch>(dispatch: D) => D {
  const rules = new RetryRules('politeUndici', options)
  return <D extends AnyDispatch>(dispatch: D) => {
    const polite: Dispatch = (request, handler) =>
      new PoliteHandler(rules, dispatch as unknown as Dispatch, request, handler).begin()
    return polite as unknown as D
  }
}

/** A refusal with a larger body is aborted, which closes its connection. */
const MAX_DISCARDED_BYTES = 65_536
/** A refusal that has not ended after its wait, and at least this long, is aborted as well. */
const MIN_REFUSAL_TIME: Millis = 1000

/** The handler between undici and the caller's handler. It is also the caller's controller, because each attempt has its own. */
class PoliteHandler implements HandlerLike, ControllerLike {
  aborted = false
  paused = false
  reason: Error | null = null
  private readonly rules: RetryRules
  private readonly timers: ClientTimers
  private readonly attempt: Attempt
  private readonly send: () => boolean
  private readonly handler: HandlerLike
  private controller: ControllerLike | undefined
  private hasStarted = false
  private hasFailed = false
  /** When to send again; set while a refusal is being discarded. */
  private due: Millis | undefined
  private discarded = 0
  private timer: unknown

  constructor(
    rules: RetryRules,
    dispatch: Dispatch,
    request: DispatchOptionsLike,
    handler: HandlerLike,
  ) {
    const { origin, path, method, headers, body } = request
    this.rules = rules
    this.timers = rules.timers
    this.handler = handler
    this.attempt = rules.begin({
      method,
      url: `${String(origin ?? '')}${path}`,
      headers: headersOf(headers),
      replayable: isReplayable(body),
    })
    this.send = () => {
      this.attempt.number += 1
      return dispatch(request, this)
    }
  }

  begin(): boolean {
    const hold = this.rules.holdFor(this.attempt)
    if (hold === 0) return this.send()
    // Gives the caller a controller, so that it can abort during the wait.
    this.start(null)
    this.sendAfter(hold)
    return true
  }

  pause(): void {
    this.paused = true
    this.controller?.pause()
  }

  resume(): void {
    this.paused = false
    this.controller?.resume()
  }

  abort(reason: Error): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.timers.clear(this.timer)
    if (this.controller !== undefined) return this.controller.abort(reason)
    this.fail(reason)
  }

  onRequestStart(controller: ControllerLike, context: unknown): void {
    this.controller = controller
    // Aborted while the request was in the dispatcher's own queue.
    if (this.aborted) return controller.abort(this.reason as Error)
    if (this.paused) controller.pause()
    this.start(context)
  }

  onRequestUpgrade(_: ControllerLike, status: number, headers: object, socket: unknown): void {
    this.handler.onRequestUpgrade?.(this, status, headers, socket)
  }

  onResponseStart(
    controller: ControllerLike,
    status: number,
    headers: object,
    message?: string,
  ): void {
    const head = { status, headers: plainHeaders(headers) }
    const wait = status >= 200 ? this.rules.retryDelay(this.attempt, head) : undefined
    if (wait === undefined) return this.handler.onResponseStart?.(this, status, headers, message)
    this.due = this.timers.clock() + wait
    const abort = (): void => controller.abort(new Error('the refusal did not end in time'))
    this.timer = this.timers.set(abort, Math.max(wait, MIN_REFUSAL_TIME))
  }

  onResponseData(controller: ControllerLike, chunk: { readonly length: number }): void {
    if (this.due === undefined) return this.handler.onResponseData?.(this, chunk)
    this.discarded += chunk.length
    if (this.discarded > MAX_DISCARDED_BYTES)
      controller.abort(new Error('the body of the refusal is too large'))
  }

  onResponseEnd(_: ControllerLike, trailers: object): void {
    if (this.due === undefined) this.handler.onResponseEnd?.(this, trailers)
    else this.repeat(this.due)
  }

  onResponseError(_: ControllerLike, error: Error): void {
    if (this.due === undefined || this.aborted) this.fail(error)
    else this.repeat(this.due)
  }

  private fail(error: Error): void {
    if (this.hasFailed) return
    this.hasFailed = true
    this.handler.onResponseError?.(this, error)
  }

  private start(context: unknown): void {
    if (this.hasStarted) return
    this.hasStarted = true
    this.handler.onRequestStart?.(this, context)
  }

  private repeat(due: Millis): void {
    this.timers.clear(this.timer)
    this.due = undefined
    this.discarded = 0
    this.controller = undefined
    this.sendAfter(Math.max(0, due - this.timers.clock()))
  }

  private sendAfter(wait: Millis): void {
    const until = this.timers.clock() + wait
    const wake = (): void => {
      const left = until - this.timers.clock()
      if (left > 0) {
        this.timer = this.timers.set(wake, left)
        return
      }
      try {
        this.send()
      } catch (error) {
        this.fail(error as Error)
      }
    }
    this.timer = this.timers.set(wake, wait)
  }
}

/** Undici accepts headers as an object, as pairs, or as a flat list of alternating names and values. */
function headersOf(headers: unknown): HeaderReader {
  if (typeof headers !== 'object' || headers === null) return plainHeaders({})
  if (!(Symbol.iterator in headers)) return plainHeaders(headers)
  const items = [...(headers as Iterable<unknown>)]
  if (items.every(Array.isArray)) return plainHeaders(Object.fromEntries(items) as object)
  const pairs = items.flatMap((name, i) => (i % 2 === 0 ? [[String(name), items[i + 1]]] : []))
  return plainHeaders(Object.fromEntries(pairs) as object)
}

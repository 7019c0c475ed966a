// Politeness for undici: an interceptor for `dispatcher.compose`.
import type { Millis } from '../time/clock.ts'
import type { HeaderReader } from './hints/quota.ts'
import { Manners, type Journey, type PoliteOptions } from './manners.ts'
import { plainHeaders } from './plain-headers.ts'
import { isReplayable } from './replayable.ts'
import type { Timers } from './timers.ts'

/** What is read of a request's options. */
interface DispatchOptionsLike {
  readonly origin?: string | URL
  readonly path: string
  readonly method: string
  readonly body?: unknown
  readonly headers?: unknown
}

/** The hold that a handler has on its request. */
interface ControllerLike {
  pause(): void
  resume(): void
  abort(reason: Error): void
  readonly paused: boolean
  readonly aborted: boolean
  readonly reason: Error | null
}

/** Those who are told what becomes of a request. */
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

/** Undici's own dispatch, whatever its version calls the types. */
type AnyDispatch = (options: never, handler: never) => boolean

/** `new Agent().compose(politeUndici())`. */
export function politeUndici(
  options: PoliteOptions = {},
): <D extends AnyDispatch>(dispatch: D) => D {
  const manners = new Manners('politeUndici', options)
  return <D extends AnyDispatch>(dispatch: D) => {
    const polite: Dispatch = (request, handler) =>
      new PoliteHandler(manners, dispatch as unknown as Dispatch, request, handler).begin()
    return polite as unknown as D
  }
}

/** A refusal's body beyond this is cut off, with its connection. */
const MOST_DISCARDED = 65_536
/** A refusal whose end has not come after its wait, or after this, is cut off as well. */
const LEAST_PATIENCE: Millis = 1000

/** Stands between undici and the caller's handler, as its controller too: each attempt has one of its own. */
class PoliteHandler implements HandlerLike, ControllerLike {
  aborted = false
  paused = false
  reason: Error | null = null
  private readonly manners: Manners
  private readonly timers: Timers
  private readonly journey: Journey
  private readonly send: () => boolean
  private readonly handler: HandlerLike
  private attempt: ControllerLike | undefined
  private hasStarted = false
  private hasFailed = false
  /** When to send again; set while an answer is thrown away. */
  private due: Millis | undefined
  private discarded = 0
  private timer: unknown

  constructor(
    manners: Manners,
    dispatch: Dispatch,
    request: DispatchOptionsLike,
    handler: HandlerLike,
  ) {
    const { origin, path, method, headers, body } = request
    this.manners = manners
    this.timers = manners.timers
    this.handler = handler
    this.journey = manners.begin({
      method,
      url: `${String(origin ?? '')}${path}`,
      headers: headersOf(headers),
      replayable: isReplayable(body),
    })
    this.send = () => {
      this.journey.attempt += 1
      return dispatch(request, this)
    }
  }

  begin(): boolean {
    const hold = this.manners.holdFor(this.journey)
    if (hold === 0) return this.send()
    // So that the caller can abort while it waits.
    this.start(null)
    this.sendAfter(hold)
    return true
  }

  pause(): void {
    this.paused = true
    this.attempt?.pause()
  }

  resume(): void {
    this.paused = false
    this.attempt?.resume()
  }

  abort(reason: Error): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.timers.clear(this.timer)
    if (this.attempt !== undefined) return this.attempt.abort(reason)
    this.fail(reason)
  }

  onRequestStart(controller: ControllerLike, context: unknown): void {
    this.attempt = controller
    // Aborted while it stood in the dispatcher's own queue.
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
    const answer = { status, headers: plainHeaders(headers) }
    const wait = status >= 200 ? this.manners.judge(this.journey, answer) : undefined
    if (wait === undefined) return this.handler.onResponseStart?.(this, status, headers, message)
    this.due = this.timers.clock() + wait
    const cut = (): void => controller.abort(new Error('the refusal takes too long'))
    this.timer = this.timers.set(cut, Math.max(wait, LEAST_PATIENCE))
  }

  onResponseData(controller: ControllerLike, chunk: { readonly length: number }): void {
    if (this.due === undefined) return this.handler.onResponseData?.(this, chunk)
    this.discarded += chunk.length
    if (this.discarded > MOST_DISCARDED) controller.abort(new Error('the refusal is too long'))
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
    this.attempt = undefined
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

/** Undici takes headers as an object, as pairs, or as names and values by turns. */
function headersOf(headers: unknown): HeaderReader {
  if (typeof headers !== 'object' || headers === null) return plainHeaders({})
  if (!(Symbol.iterator in headers)) return plainHeaders(headers)
  const items = [...(headers as Iterable<unknown>)]
  if (items.every(Array.isArray)) return plainHeaders(Object.fromEntries(items) as object)
  const pairs = items.flatMap((name, i) => (i % 2 === 0 ? [[String(name), items[i + 1]]] : []))
  return plainHeaders(Object.fromEntries(pairs) as object)
}

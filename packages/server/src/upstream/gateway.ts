// The reverse proxy's path: a request is read, counted, refused or held, and forwarded to the upstream.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isPromise, type Millis } from 'sluice'
import {
  holdUntilClosed,
  type Admission,
  type FrameworkAdapter,
  type RequestGuard,
} from 'sluice/http'
import { problemOf, problemOfError } from '../net/problem.ts'
import { guardsOver, type GuardOptions } from '../limiters/request-guards.ts'
import type { ServiceContext } from '../limiters/limiters.ts'
import { RepeatedLog } from '../log/repeated-log.ts'
import { fieldOf } from '../net/counted-fields.ts'
import { relayAnswer, answerProblem } from './answer.ts'
import { readRequestHead, type RequestHead } from './request-head.ts'
import { createRequestHolds, type HeldRequest } from './request-holds.ts'
import { Exchange } from './exchange.ts'
import { RawFields } from './fields.ts'
import { trustIn } from './forwarded.ts'
import { addMark, reasonOf, requestFields, responseFields, type HeadOptions } from './heads.ts'
import { gatewayMetrics, RESULT_OF } from './metrics.ts'
import { responseOn } from './switching.ts'
import { joinEnds, sendSwitch } from './tunnel.ts'
import type { Upstream } from './upstream.ts'

/** What the gateway depends on besides the limiters. */
export interface GatewayOptions extends GuardOptions {
  readonly upstream: Upstream
  /** The policy that counts; undefined takes the only one. */
  readonly policy: string | undefined
  readonly keepHost: boolean
  /** The paths of LLM APIs, whose tokens are reserved and settled. */
  readonly llm: readonly string[]
  readonly via: string | null
  /** How long a WebSocket may be silent. */
  readonly tunnelTimeout: Millis
  readonly isClosing: () => boolean
}

/** Handles the requests of the listener. */
export interface Gateway {
  handle(request: IncomingMessage, response: ServerResponse): void
  /** Handles the beginning of a WebSocket, on a connection that Node's server has released. */
  handleSwitch(request: IncomingMessage, socket: Socket, head: Buffer): void
}

/** One request in progress. */
interface ProxiedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly head: RequestHead
  readonly guard: RequestGuard<IncomingMessage, RawFields>
  /** Bytes that a WebSocket client has already sent; undefined for other requests. */
  readonly firstBytes: Buffer | undefined
}

/** Makes the gateway. */
export function createGateway(
  { limiters, log, metrics }: Pick<ServiceContext, 'limiters' | 'log' | 'metrics'>,
  options: GatewayOptions,
): Gateway {
  const { upstream, isClosing, via, policy } = options
  const forwarding: HeadOptions = { authority: upstream.authority, keepHost: options.keepHost, via }
  const counted = new Set(Object.values(options.attributes))
  const isTrusted = trustIn(options.trustedProxies)
  const guardOf = guardsOver(PORT, options, log, 'upstream')
  const { count, countUsage, latency } = gatewayMetrics(metrics, upstream)
  const warnings = new RepeatedLog(log)
  const holding = createRequestHolds({
    llm: options.llm,
    onUsage: countUsage,
    onError: (error) =>
      warnings.warn('settle-failed', { error: String(error) }, 'a reservation was not settled'),
  })

  const enter = (request: IncomingMessage, response: ServerResponse, early?: Buffer): void => {
    let head: RequestHead
    try {
      head = readRequestHead(request, counted)
    } catch (error) {
      count('invalid')
      answerProblem(request, response, problemOfError(error), true)
      return
    }
    request.url = head.target
    const { current } = limiters
    const limiter = current.byName.get(policy ?? current.only ?? '')
    if (limiter === undefined) {
      const detail = 'the policy of this proxy is not in force'
      warnings.warn('unknown-policy', { policy }, detail)
      count('unavailable')
      answerProblem(request, response, problemOf(503, 'unknown-policy', detail), isClosing())
      return
    }
    const fail = (error: unknown): void => {
      warnings.warn('proxy-failed', { error: String(error) }, 'a request could not be judged')
      count('unavailable')
      if (response.headersSent) response.destroy()
      else answerProblem(request, response, problemOf(503, 'internal', 'an unexpected error'), true)
    }
    try {
      const guard = guardOf(holding.limiterFor(limiter, head.target))
      const proxied: ProxiedRequest = { request, response, head, guard, firstBytes: early }
      const admission = guard.enter(request, null)
      if (isPromise(admission))
        admission.then((admission) => proceed(proxied, admission)).catch(fail)
      else proceed(proxied, admission)
    } catch (error) {
      fail(error)
    }
  }

  const proceed = (proxied: ProxiedRequest, admission: Admission): void => {
    const { request, response, guard } = proxied
    const { refusal, delay, decision } = admission
    const held = holding.heldBy(decision)
    if (response.destroyed) {
      held?.cancel()
      count('abandoned')
      return
    }
    if (refusal !== null) {
      held?.cancel()
      count(refusal.status === 429 ? 'refused' : refusal.status === 400 ? 'invalid' : 'unavailable')
      const fields = new RawFields(refusal.fields.flat())
      guard.write(admission, fields)
      relayAnswer(request, response, refusal.status, fields, refusal.body, isClosing())
      return
    }
    const forward = (): void => exchange(proxied, admission, held)
    const left = (): void => {
      held?.cancel()
      count('abandoned')
    }
    if (delay === 0) forward()
    else holdUntilClosed(delay, response, forward, left)
  }

  const exchange = (
    proxied: ProxiedRequest,
    admission: Admission,
    held: HeldRequest | undefined,
  ): void => {
    const { request, response, head, guard, firstBytes: early } = proxied
    const fields = requestFields(request, head, isTrusted(request.socket), forwarding)
    if (early !== undefined) fields.raw.push('Connection', 'Upgrade', 'Upgrade', 'websocket')
    else if (head.takesTrailers) fields.raw.push('Connection', 'TE', 'TE', 'trailers')
    const start = performance.now()
    const writeLimits = (fields: RawFields): void => guard.write(admission, fields)
    const observe = (): void => latency.observe(performance.now() - start)
    let isAnswered = false
    // A compressed answer could not be read.
    if (held?.isMetered === true) fields.delete('Accept-Encoding')
    if (admission.decision?.marked !== undefined) addMark(fields, writeLimits)
    const joined = (answer: IncomingMessage, socket: Socket, firstBytes: Buffer): void => {
      observe()
      count('forwarded')
      const fields = responseFields(answer, false, via)
      writeLimits(fields)
      sendSwitch(response, reasonOf(answer), fields)
      const own = { socket: request.socket, head: early! }
      joinEnds(own, { socket, head: firstBytes }, options.tunnelTimeout, () => {
        upstream.active--
        held?.end()
      })
    }
    new Exchange({
      upstream,
      request,
      response,
      head,
      fields,
      via,
      counted,
      writeLimits,
      closes: isClosing,
      ...(early === undefined ? {} : { onSwitch: joined }),
      onHead: (answer) => {
        observe()
        isAnswered = true
        held?.meter(answer)
      },
      onEnd: (ending, error) => {
        // Once the upstream has the request, it may generate although the client no longer reads the answer.
        if (isAnswered || ending === 'abandoned' || ending === 'timeout') held?.end()
        else held?.cancel()
        count(RESULT_OF[ending])
        if (error !== undefined && ending !== 'slow')
          warnings.warn(RESULT_OF[ending], { error: error.message }, 'the upstream failed')
      },
    }).start()
  }

  return {
    handle: (request, response) => enter(request, response),
    handleSwitch: (request, socket, head) => enter(request, responseOn(request, socket), head),
  }
}

/** Reads requests; the fields of a response are only sent with the upstream's own. */
const PORT: FrameworkAdapter<IncomingMessage, RawFields> = {
  peerAddress: (request) => request.socket.remoteAddress,
  header: fieldOf,
  method: (request) => request.method ?? 'GET',
  path: (request) => request.url ?? '/',
  route: () => undefined,
  get: (fields, name) => fields.get(name),
  set: (fields, name, value) => fields.set(name, value),
}

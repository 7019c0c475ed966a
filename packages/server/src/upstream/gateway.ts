// The reverse proxy's path: a request is read, counted, refused or held, and handed on to the upstream.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Millis } from 'sluice'
import {
  holdUntilClosed,
  type Admission,
  type FrameworkAdapter,
  type RequestGuard,
} from 'sluice/http'
import { problemOf, problemOfError } from '../net/problem.ts'
import { isPromise } from '../limiters/limiters.ts'
import { guardsOver, type GuardOptions } from '../limiters/request-guards.ts'
import type { ServiceContext } from '../limiters/service-context.ts'
import { RepeatedLog } from '../log/repeated-log.ts'
import { fieldOf } from '../net/counted-fields.ts'
import { answer, answerProblem } from './answer.ts'
import { readAsked, type Asked } from './asked.ts'
import { Exchange } from './exchange.ts'
import { Fields } from './fields.ts'
import { trustIn } from './forwarded.ts'
import { reasonOf, requestFields, responseFields, type HeadOptions } from './heads.ts'
import { gatewayMetrics, RESULT_OF } from './metrics.ts'
import { responseOn } from './switching.ts'
import { joinEnds, sendSwitch } from './tunnel.ts'
import type { Upstream } from './upstream.ts'

/** What the gateway depends on beside the limiters. */
export interface GatewayOptions extends GuardOptions {
  readonly upstream: Upstream
  /** The policy that counts; undefined takes the only one. */
  readonly policy: string | undefined
  readonly keepHost: boolean
  readonly via: string | null
  /** How long a WebSocket may be silent. */
  readonly tunnelTimeout: Millis
  readonly isClosing: () => boolean
}

/** What the listener hands requests to. */
export interface Gateway {
  handle(request: IncomingMessage, response: ServerResponse): void
  /** The beginning of a WebSocket, on a connection that is nobody else's. */
  handleSwitch(request: IncomingMessage, socket: Socket, head: Buffer): void
}

/** One request on its way. */
interface Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly asked: Asked
  readonly guard: RequestGuard<IncomingMessage, Fields>
  /** What the client of a WebSocket has already sent; undefined for other requests. */
  readonly early: Buffer | undefined
}

/** Makes the gateway. */
export function createGateway(
  { limiters, log, metrics }: Pick<ServiceContext, 'limiters' | 'log' | 'metrics'>,
  options: GatewayOptions,
): Gateway {
  const { upstream, isClosing, via, policy } = options
  const head: HeadOptions = { authority: upstream.authority, keepHost: options.keepHost, via }
  const counted = new Set(Object.values(options.attributes))
  const isTrusted = trustIn(options.trustedProxies)
  const guardOf = guardsOver(PORT, options, log, 'upstream')
  const { count, latency } = gatewayMetrics(metrics, upstream)
  const warnings = new RepeatedLog(log)

  const enter = (request: IncomingMessage, response: ServerResponse, early?: Buffer): void => {
    let asked: Asked
    try {
      asked = readAsked(request, counted)
    } catch (error) {
      count('invalid')
      answerProblem(request, response, problemOfError(error), true)
      return
    }
    request.url = asked.target
    const { current } = limiters
    const limiter = current.get(policy ?? current.only ?? '')
    if (limiter === undefined) {
      const detail = 'the policy of this proxy is not in force'
      warnings.warn('unknown-policy', { policy }, detail)
      count('unavailable')
      answerProblem(request, response, problemOf(503, 'unknown-policy', detail), isClosing())
      return
    }
    const visit: Visit = { request, response, asked, guard: guardOf(limiter), early }
    const admission = visit.guard.enter(request, null)
    if (isPromise(admission)) void admission.then((admission) => proceed(visit, admission))
    else proceed(visit, admission)
  }

  const proceed = (visit: Visit, admission: Admission): void => {
    const { request, response, guard } = visit
    const { refusal, delay } = admission
    if (response.destroyed) {
      count('abandoned')
      return
    }
    if (refusal !== null) {
      count(refusal.status === 429 ? 'refused' : refusal.status === 400 ? 'invalid' : 'unavailable')
      const fields = new Fields(refusal.fields.flat())
      guard.write(admission, fields)
      answer(request, response, refusal.status, fields, refusal.body, isClosing())
      return
    }
    const go = (): void => exchange(visit, admission)
    if (delay === 0) go()
    else holdUntilClosed(delay, response, go, () => count('abandoned'))
  }

  const exchange = (visit: Visit, admission: Admission): void => {
    const { request, response, asked, guard, early } = visit
    const fields = requestFields(request, asked, isTrusted(request.socket), head)
    if (early !== undefined) fields.raw.push('Connection', 'Upgrade', 'Upgrade', 'websocket')
    else if (asked.takesTrailers) fields.raw.push('Connection', 'TE', 'TE', 'trailers')
    const start = performance.now()
    const tell = (fields: Fields): void => guard.write(admission, fields)
    const observe = (): void => latency.observe(performance.now() - start)
    const joined = (answer: IncomingMessage, socket: Socket, head: Buffer): void => {
      observe()
      count('forwarded')
      const fields = responseFields(answer, false, via)
      tell(fields)
      sendSwitch(response, reasonOf(answer), fields)
      const own = { socket: request.socket, head: early! }
      joinEnds(own, { socket, head }, options.tunnelTimeout, () => upstream.active--)
    }
    new Exchange({
      upstream,
      request,
      response,
      asked,
      fields,
      via,
      tell,
      closes: isClosing,
      ...(early === undefined ? {} : { onSwitch: joined }),
      onHead: observe,
      onEnd: (ending, error) => {
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
const PORT: FrameworkAdapter<IncomingMessage, Fields> = {
  peerAddress: (request) => request.socket.remoteAddress,
  header: fieldOf,
  method: (request) => request.method ?? 'GET',
  path: (request) => request.url ?? '/',
  route: () => undefined,
  get: (fields, name) => fields.get(name),
  set: (fields, name, value) => fields.set(name, value),
}

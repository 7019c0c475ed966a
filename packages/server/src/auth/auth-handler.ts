// Answers the auth requests of proxies: `/v1/auth/nginx?policy=api` and the like.
import { isPromise } from 'sluice'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  holdUntilClosed,
  retryAfterSeconds,
  settle,
  type Admission,
  type RefusalReply,
} from 'sluice/http'
import { limiterFor, type ServiceContext } from '../limiters/limiters.ts'
import { guardsOver, type GuardOptions } from '../limiters/request-guards.ts'
import { refuseDoubled } from '../net/counted-fields.ts'
import type { Handler, MountedReply } from '../net/http-listener.ts'
import { problemOf, RequestError } from '../net/problem.ts'
import { PROXIES, type ProxyName } from './proxies.ts'
import { proxyAdapter } from './proxy-adapter.ts'

/** What the answers depend on besides the limiters. */
export type AuthOptions = GuardOptions & MountedReply

/** Creates the handler for one kind of proxy. Every answer carries `Sluice-Status`: what the client should get. */
export function authHandler(
  proxy: ProxyName,
  { limiters, log }: Pick<ServiceContext, 'limiters' | 'log'>,
  options: AuthOptions,
): Handler {
  const dialect = PROXIES[proxy]
  const adapter = proxyAdapter(dialect)
  const guardOf = guardsOver(adapter, options, log, proxy)
  // With two paths the proxy and this service may each read another one.
  const counted = new Set([...Object.values(options.attributes), dialect.uri, dialect.method])

  const end = (response: ServerResponse, status: number, real: number, body?: string): void => {
    options.onAnswer(status)
    response.setHeader('Sluice-Status', real)
    if (options.port.isClosing) response.setHeader('Connection', 'close')
    response.writeHead(status).end(body)
  }
  const refuse = (response: ServerResponse, { status, fields, body }: RefusalReply): void => {
    for (const [name, value] of fields) response.setHeader(name, value)
    response.setHeader('Content-Length', Buffer.byteLength(body))
    if (dialect.refused !== undefined) response.setHeader('Sluice-Problem', asciiJson(body))
    end(response, dialect.refused ?? status, status, body)
  }
  const answer = (
    request: IncomingMessage,
    response: ServerResponse,
    { refusal, delay }: Admission,
  ): void => {
    if (refusal !== null) refuse(response, refusal)
    else if (delay === 0) end(response, 204, 204)
    else if (delay <= options.maxDelay)
      holdUntilClosed(delay, response, () => end(response, 204, 204))
    else {
      // The proxy would give up, and then forward the request at once or ask, and pay, again.
      void settle(request, 0)
      refuse(response, tooEarly(delay))
    }
  }

  return (request, response) => {
    const failed = (error: unknown): void => options.onError(response, error)
    try {
      const doubled = doubledField(request, counted)
      if (doubled !== undefined) return refuse(response, doubled)
      if (adapter.header(request, dialect.uri) === undefined)
        throw new RequestError(
          400,
          'missing-field',
          `${dialect.uri} is missing; the proxy must send the path of the request in it`,
          dialect.uri,
        )
      const limiter = limiterFor(limiters.current, policyIn(request.url))
      const admission = guardOf(limiter).enter(request, response)
      if (isPromise(admission))
        admission.then((admission) => answer(request, response, admission)).catch(failed)
      else answer(request, response, admission)
    } catch (error) {
      failed(error)
    }
  }
}

/** The refusal of a request that names its caller, path or method twice: the application may read either one. */
function doubledField(
  { rawHeaders }: IncomingMessage,
  counted: ReadonlySet<string>,
): RefusalReply | undefined {
  try {
    refuseDoubled(rawHeaders, counted)
    return undefined
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return replyOf(400, error.message)
  }
}

/** The refusal of a request whose turn in a leaky bucket comes later than the proxy waits. */
function tooEarly(delay: number): RefusalReply {
  const seconds = retryAfterSeconds(delay, 0) ?? 1
  return replyOf(429, `Try again in ${seconds} s.`, [['Retry-After', String(seconds)]])
}

function replyOf(
  status: number,
  detail: string,
  fields: readonly (readonly [string, string])[] = [],
): RefusalReply {
  const { code: _, ...problem } = problemOf(status, '', detail)
  const type = ['Content-Type', 'application/problem+json'] as const
  const cache = ['Cache-Control', 'no-store'] as const
  return { status, fields: [type, cache, ...fields], body: JSON.stringify(problem) }
}

/** JSON that a header field can hold. */
function asciiJson(json: string): string {
  return json.replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function policyIn(url = ''): string | undefined {
  const query = url.indexOf('?')
  return query < 0 ? undefined : (new URLSearchParams(url.slice(query)).get('policy') ?? undefined)
}

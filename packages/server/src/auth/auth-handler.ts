// Answers proxies that ask whether a request may go on: `/v1/auth/nginx?policy=api` and the like.
import type { ServerResponse } from 'node:http'
import type { Admission, RefusalReply } from 'sluice/http'
import type { Handler } from '../net/http-listener.ts'
import { limiterFor } from '../limiters/limiter-for.ts'
import type { MountedReply } from '../net/mounted-route.ts'
import { RequestError } from '../net/problem.ts'
import { isPromise } from '../limiters/limiters.ts'
import type { ServiceContext } from '../limiters/service-context.ts'
import { guardsOver, type GuardOptions } from '../limiters/request-guards.ts'
import { PROXIES, type ProxyName } from './proxies.ts'
import { proxyPort } from './proxy-port.ts'

/** What the answers depend on beside the limiters. */
export type AuthOptions = GuardOptions & MountedReply

/** Makes the handler for one kind of proxy. */
export function authHandler(
  proxy: ProxyName,
  { limiters, log }: Pick<ServiceContext, 'limiters' | 'log'>,
  options: AuthOptions,
): Handler {
  const dialect = PROXIES[proxy]
  const port = proxyPort(dialect)
  const guardOf = guardsOver(port, options, log, proxy)

  const end = (response: ServerResponse, status: number, body?: string): void => {
    options.onAnswer(status)
    if (options.isClosing()) response.setHeader('Connection', 'close')
    response.writeHead(status).end(body)
  }
  const refuse = (response: ServerResponse, { status, fields, body }: RefusalReply): void => {
    for (const [name, value] of fields) response.setHeader(name, value)
    response.setHeader('Sluice-Status', status)
    const told = dialect.refused ?? status
    response.setHeader('Content-Length', Buffer.byteLength(body))
    end(response, told, body)
  }
  const answer = (response: ServerResponse, admission: Admission): void => {
    if (admission.refusal !== null) return refuse(response, admission.refusal)
    if (admission.delay === 0) return end(response, 204)
    const timer = setTimeout(() => end(response, 204), admission.delay)
    response.once('close', () => clearTimeout(timer))
  }

  return (request, response) => {
    try {
      if (port.header(request, dialect.uri) === undefined)
        throw new RequestError(
          400,
          'missing-field',
          `${dialect.uri} is missing; the proxy must send the path of the request in it`,
          dialect.uri,
        )
      const limiter = limiterFor(limiters.current, policyIn(request.url))
      const admission = guardOf(limiter).enter(request, response)
      if (isPromise(admission)) void admission.then((admission) => answer(response, admission))
      else answer(response, admission)
    } catch (error) {
      options.onError(response, error)
    }
  }
}

function policyIn(url = ''): string | undefined {
  const query = url.indexOf('?')
  return query < 0 ? undefined : (new URLSearchParams(url.slice(query)).get('policy') ?? undefined)
}

// The routes of the admin API: without a token, a caller learns only that one is needed.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readJson, sendJson, sendProblem } from '../net/body.ts'
import type { Handler, PortState } from '../net/http-listener.ts'
import { problemOf, problemOfError, type Problem } from '../net/problem.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { Attempts } from './attempts.ts'
import type { Audit, Who } from './audit.ts'
import type { Change } from './changes.ts'
import type { Console } from './console/console-routes.ts'
import type { ChangeName } from './requests.ts'
import type { TokenRing } from './token-ring.ts'
import type { View, ViewName } from './views.ts'

const PREFIX = '/v1/admin/'
/** Operations that change nothing, and have no line in the audit log. */
const READS: readonly string[] = ['read']

/** What the routes are made of. */
export interface AdminRoutesOptions {
  readonly tokens: TokenRing
  readonly attempts: Attempts
  readonly audit: Audit
  readonly views: Readonly<Record<ViewName, View>>
  readonly changes: Readonly<Record<ChangeName, Change>>
  readonly maxBody: number
  readonly metrics: MetricRegistry
  readonly console: Console
  readonly port: PortState
  /** Receives errors of the service itself. */
  readonly onError: (error: unknown) => void
}

/** Makes the function that answers every request of the admin listener. */
export function adminHandler(options: AdminRoutesOptions): Handler {
  const { tokens, attempts, audit, port } = options
  const requests = options.metrics.counter(
    'sluice_admin_requests_total',
    'Answered requests of the admin API; those without a right token have no operation.',
    ['operation', 'status'],
  )
  const changes = new Map<string, Change>(Object.entries(options.changes))
  const views = new Map<string, View>(Object.entries(options.views))

  const fail = (response: ServerResponse, operation: string, problem: Problem): void => {
    requests.with(operation, String(problem.status)).add()
    sendProblem(response, problem, port.isClosing)
  }
  const succeed = (response: ServerResponse, operation: string, answer: unknown): void => {
    requests.with(operation, '200').add()
    sendJson(response, 200, JSON.stringify(answer), port.isClosing)
  }
  const problemFor = (error: unknown): Problem => {
    const problem = problemOfError(error)
    if (problem.status === 500) options.onError(error)
    return problem
  }

  /** The holder of the token, or undefined when the request has been answered. */
  const admit = (request: IncomingMessage, response: ServerResponse): Who | undefined => {
    const { remoteAddress } = request.socket
    const who = { address: remoteAddress ?? 'unknown' }
    // The token is checked first: failures from the same address, for example of a web page, must not lock its holder out.
    const token = tokens.holderOf(request.headers.authorization)
    if (token !== undefined) return { ...who, token: token.name, role: token.role }
    const session =
      request.headers.authorization === undefined ? options.console.sessionOf(request) : undefined
    if (session !== undefined) return { ...who, token: session.name, role: session.role }
    const wait = attempts.waitOf(remoteAddress)
    if (wait > 0) {
      audit.tooMany(who)
      response.setHeader('retry-after', Math.ceil(wait / 1000))
      refuse(response, problemOf(429, 'too-many-attempts', 'too many failed attempts; wait'))
      return undefined
    }
    attempts.failed(remoteAddress)
    audit.write(who, request.method ?? '', pathOf(request), 'refused', 'no token, or a wrong one')
    response.setHeader('www-authenticate', 'Bearer realm="sluice admin"')
    refuse(response, problemOf(401, 'unauthorized', 'accepted: Authorization: Bearer and a token'))
    return undefined
  }
  /** The connection ends, because the rest of the request is not read. */
  const refuse = (response: ServerResponse, problem: Problem): void => {
    requests.with('', String(problem.status)).add()
    sendProblem(response, problem, true)
  }

  const change = (name: string, make: Change, who: Who): Handler => {
    return (request, response) => {
      const isAudited = !READS.includes(name)
      const failed = (error: unknown, body?: unknown): void => {
        const problem = problemFor(error)
        if (isAudited) audit.write(who, name, body ?? {}, 'failed', problem.detail)
        fail(response, name, problem)
      }
      const done = (body: unknown): void => {
        make(body, who.token ?? '').then(
          (answer) => {
            if (isAudited) audit.write(who, name, body, 'done')
            succeed(response, name, answer)
          },
          (error: unknown) => failed(error, body),
        )
      }
      readJson(request, options.maxBody, done, (error) => failed(error))
    }
  }
  const view = async (
    name: string,
    show: View,
    query: URLSearchParams,
    response: ServerResponse,
  ): Promise<void> => {
    try {
      succeed(response, name, await show(query))
    } catch (error) {
      fail(response, name, problemFor(error))
    }
  }

  return (request, response) => {
    const path = pathOf(request)
    if (options.console.handle(path, request, response)) return
    const who = admit(request, response)
    if (who === undefined) return
    const name = path.startsWith(PREFIX) ? path.slice(PREFIX.length) : ''
    const makeChange = changes.get(name)
    const show = views.get(name)
    const accepted = makeChange !== undefined ? ['POST'] : ['GET', 'HEAD']
    if (makeChange === undefined && show === undefined)
      fail(response, 'other', problemOf(404, 'unknown-route', 'there is nothing at this path'))
    else if (!accepted.includes(request.method ?? '')) {
      response.setHeader('allow', accepted.join(', '))
      const detail = `accepted: ${accepted.join(', ')}`
      fail(response, name, problemOf(405, 'method-not-allowed', detail))
    } else if (makeChange !== undefined && who.role === 'read' && !READS.includes(name)) {
      audit.write(who, name, {}, 'refused', 'the token may only read')
      refuse(response, problemOf(403, 'read-only', 'this token may look, and change nothing'))
    } else if (makeChange !== undefined) change(name, makeChange, who)(request, response)
    else {
      const { url = '' } = request
      const query = new URLSearchParams(url.slice(path.length))
      void view(name, show!, query, response)
    }
  }
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

// The paths that users of Envoy's own rate limit service know: GET /healthcheck, POST /json and GET /rlconfig.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isPromise } from 'sluice'
import type { Health } from '../health/health.ts'
import { readJson, sendJson, sendText } from '../net/body.ts'
import type { MountedReply, MountedRoute } from '../net/http-listener.ts'
import { RequestError } from '../net/problem.ts'
import { BadRequest } from './decide/domain.ts'
import type { DomainRegistry } from './domains.ts'
import { decideRequest } from './should-rate-limit.ts'
import { requestOfJson, responseJson } from './wire/json.ts'
import { OVER_LIMIT, type RateLimitResponse } from './wire/response.ts'

/** Most bytes of the body of `/json`. */
const MAX_BODY = 65_536
const PLAIN = 'text/plain; charset=utf-8'

/** The routes, for the HTTP port of a service with a gRPC listener; `domains` is undefined until that has started. */
export function debugRoutes(
  health: Health,
  domains: () => DomainRegistry | undefined,
): readonly MountedRoute[] {
  const started = (): DomainRegistry => {
    const found = domains()
    if (found === undefined)
      throw new RequestError(503, 'starting', 'the gRPC listener has not started yet')
    return found
  }
  const healthcheck = ({ onAnswer, port }: MountedReply) => {
    return (_: IncomingMessage, response: ServerResponse): void => {
      const isServing = health.state === 'serving'
      onAnswer(isServing ? 200 : 500)
      sendText(
        response,
        isServing ? 200 : 500,
        PLAIN,
        isServing ? 'OK' : health.state,
        port.isClosing,
      )
    }
  }
  const rlconfig = ({ onAnswer, onError, port }: MountedReply) => {
    return (_: IncomingMessage, response: ServerResponse): void => {
      try {
        const text = started().describe().join('\n')
        onAnswer(200)
        sendText(response, 200, PLAIN, `${text}\n`, port.isClosing)
      } catch (error) {
        onError(response, error)
      }
    }
  }
  const json = ({ onAnswer, onError, port }: MountedReply) => {
    return (request: IncomingMessage, response: ServerResponse): void => {
      const failed = (error: unknown): void => onError(response, asRequestError(error))
      const answer = (decided: RateLimitResponse): void => {
        const status = decided.overallCode === OVER_LIMIT ? 429 : 200
        onAnswer(status)
        for (const { key, value } of decided.responseHeaders) response.setHeader(key, value)
        sendJson(response, status, responseJson(decided), port.isClosing)
      }
      const done = (body: unknown): void => {
        try {
          const decided = decideRequest(started(), requestOfJson(body))
          if (isPromise(decided)) decided.then(answer).catch(failed)
          else answer(decided)
        } catch (error) {
          failed(error)
        }
      }
      readJson(request, MAX_BODY, done, failed, !isFromPage(request))
    }
  }
  return [
    { path: '/healthcheck', createHandler: healthcheck },
    { path: '/rlconfig', createHandler: rlconfig },
    { path: '/json', methods: ['POST'], createHandler: json },
  ]
}

/** Whether a browser sent the request: a foreign page may send other types without asking, so it must send JSON. */
function isFromPage({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined
}

function asRequestError(error: unknown): unknown {
  return error instanceof BadRequest ? new RequestError(400, 'invalid-body', error.message) : error
}

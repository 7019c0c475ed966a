// The routes of the HTTP API: a fixed table, looked up by path.
import type { ServerResponse } from 'node:http'
import { isPromise, type MaybePromise } from 'sluice'
import type { Config } from '../config/config.ts'
import type { Limiters, ServiceContext } from '../limiters/limiters.ts'
import type { Counter } from '../metrics/series.ts'
import { readJson, sendProblem, sendText } from '../net/body.ts'
import type { Handler, MountedRoute, PortState } from '../net/http-listener.ts'
import { BUDGET_OPERATIONS } from './budget-operations.ts'
import { answerBatch } from './batch.ts'
import { decisionJson } from './decision-json.ts'
import { LIMITER_OPERATIONS } from './operations.ts'
import { problemOf, problemOfError, type Problem } from '../net/problem.ts'
import { RepeatedLog } from '../log/repeated-log.ts'

interface ShownPage {
  readonly status: number
  readonly text: string
  readonly type?: string
}

/** What a route may need beyond the limiters. */
export interface RoutesContext extends ServiceContext {
  /** What `/readyz` adds to the state, such as a reload that failed. */
  readonly detail: () => object
  /** The text of `/metrics`. */
  readonly metricsText: () => MaybePromise<string>
  readonly port: PortState
}

/** Makes the function that answers every request of the HTTP listener, at its own paths and the mounted ones. */
export function createHandler(
  context: RoutesContext,
  { listeners }: Pick<Config, 'listeners'>,
  mounted: readonly MountedRoute[] = [],
): Handler {
  const { limiters, health, metrics, log, port } = context
  const requests = metrics.counter('sluice_http_requests_total', 'Answered HTTP requests.', [
    'route',
    'status',
  ])
  const counters = new Map<string, Counter>()
  const warnings = new RepeatedLog(log)

  const count = (route: string, status: number): void => {
    const key = `${status}${route}`
    let counter = counters.get(key)
    if (counter === undefined) {
      counter = requests.with(route, String(status))
      counters.set(key, counter)
    }
    counter.add()
  }
  const fail = (route: string, response: ServerResponse, problem: Problem): void => {
    count(route, problem.status)
    // A proxy recognizes an answer of the service by this field.
    response.setHeader('sluice-status', problem.status)
    sendProblem(response, problem, port.isClosing)
  }
  const onError = (error: unknown): void => {
    const { status, code } = problemOfError(error)
    if (status >= 500) warnings.warn(code, { error: String(error) }, 'a request failed')
  }

  const ask = (name: OperationName): Handler => {
    const route = `/v1/${name}`
    const operation = OPERATIONS[name]
    const answered = requests.with(route, '200')
    return (request, response) => {
      const succeed = (text: string): void => {
        answered.add()
        sendText(response, 200, 'application/json', text, port.isClosing)
      }
      const failed = (error: unknown): void => {
        onError(error)
        fail(route, response, problemOfError(error))
      }
      const done = (body: unknown): void => {
        try {
          const isBatch = typeof body === 'object' && body !== null && 'checks' in body
          const text = isBatch
            ? answerBatch(operation, limiters.current, body, onError)
            : operation(limiters.current, body, decisionJson)
          if (isPromise(text)) text.then(succeed, failed)
          else succeed(text)
        } catch (error) {
          failed(error)
        }
      }
      readJson(request, listeners.http.maxBody, done, failed)
    }
  }
  const show = (route: string, read: () => ShownPage): Handler => {
    return (_, response) => send(route, response, read())
  }
  const send = (route: string, response: ServerResponse, shown: ShownPage): void => {
    const { status, text, type = 'application/json' } = shown
    count(route, status)
    sendText(response, status, type, text, port.isClosing)
  }
  const showMetrics: Handler = (_, response) => {
    const shown = (text: string): void =>
      send('/metrics', response, { status: 200, text, type: METRICS_TYPE })
    const text = context.metricsText()
    if (isPromise(text))
      text.then(shown, (error) => fail('/metrics', response, problemOfError(error)))
    else shown(text)
  }

  const policies = policiesText()
  const handlers: Readonly<Record<Path, Handler>> = {
    '/v1/check': ask('check'),
    '/v1/peek': ask('peek'),
    '/v1/refund': ask('refund'),
    '/v1/reset': ask('reset'),
    '/v1/reserve': ask('reserve'),
    '/v1/settle': ask('settle'),
    '/v1/extend': ask('extend'),
    '/v1/cancel': ask('cancel'),
    '/v1/enter': ask('enter'),
    '/v1/leave': ask('leave'),
    '/v1/policies': show('/v1/policies', () => ({ status: 200, text: policies(limiters.current) })),
    '/healthz': show('/healthz', () => ({ status: 200, text: '{"status":"ok"}' })),
    '/readyz': show('/readyz', () => {
      const { state } = health
      const text = JSON.stringify({ status: state, ...context.detail() })
      return { status: state === 'serving' ? 200 : 503, text }
    }),
    '/metrics': showMetrics,
  }
  // A map, since the paths that are looked up come from requests.
  const routes = new Map(Object.entries(handlers))
  const methods = new Map<string, readonly string[]>(Object.entries(METHODS))
  for (const { path, methods: own = GET, createHandler } of mounted) {
    methods.set(path, own)
    const handler = createHandler({
      port,
      onAnswer: (status) => count(path, status),
      onError: (response, error) => {
        onError(error)
        fail(path, response, problemOfError(error))
      },
    })
    routes.set(path, handler)
  }

  return (request, response) => {
    const { url = '/', method = 'GET' } = request
    const query = url.indexOf('?')
    const path = query < 0 ? url : url.slice(0, query)
    const handle = routes.get(path)
    if (handle === undefined) {
      fail('other', response, problemOf(404, 'unknown-route', 'there is nothing at this path'))
      return
    }
    const accepted = methods.get(path) ?? GET
    if (accepted.includes(method)) {
      handle(request, response)
      return
    }
    response.setHeader('allow', accepted.join(', '))
    fail(path, response, problemOf(405, 'method-not-allowed', `accepted: ${accepted.join(', ')}`))
  }
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
const POST: readonly string[] = ['POST']
const GET: readonly string[] = ['GET', 'HEAD']

/** Named like the limiter's and the budget's own methods. */
const OPERATIONS = { ...LIMITER_OPERATIONS, ...BUDGET_OPERATIONS }

type OperationName = keyof typeof OPERATIONS
type Path = `/v1/${OperationName}` | '/v1/policies' | '/healthz' | '/readyz' | '/metrics'

/** Every path of the API with the methods that it takes. */
export const METHODS: Readonly<Record<Path, readonly string[]>> = {
  '/v1/check': POST,
  '/v1/peek': POST,
  '/v1/refund': POST,
  '/v1/reset': POST,
  '/v1/reserve': POST,
  '/v1/settle': POST,
  '/v1/extend': POST,
  '/v1/cancel': POST,
  '/v1/enter': POST,
  '/v1/leave': POST,
  '/v1/policies': GET,
  '/healthz': GET,
  '/readyz': GET,
  '/metrics': GET,
}

/** The policies as text, written once for each state of the file. */
function policiesText(): (limiters: Limiters) => string {
  let written: Limiters | undefined
  let text = ''
  return (limiters) => {
    if (written !== limiters) {
      const { generation, policies } = limiters
      text = JSON.stringify({ generation, policies })
      written = limiters
    }
    return text
  }
}

// The debug port that operators of Envoy's own rate limit service know: its paths, apart from those of clients.
import type { Config } from '../config/config.ts'
import type { ServiceContext } from '../limiters/limiters.ts'
import { type Handler, type MountedRoute, openHttp, type PortState } from '../net/http-listener.ts'
import type { Listener } from '../net/listener.ts'
import { problemOf, problemOfError } from '../net/problem.ts'
import { sendProblem, sendText } from '../net/body.ts'

const GET: readonly string[] = ['GET', 'HEAD']

/** Opens the port if the configuration has one. */
export async function openDebug(
  { listeners: { debug } }: Config,
  context: ServiceContext,
  routes: readonly MountedRoute[],
): Promise<Listener | undefined> {
  if (debug === undefined) return undefined
  return openHttp((port) => debugHandler(routes, port, context), debug, context, 'debug')
}

/** The routes by their paths, and a list of them at `/`. */
function debugHandler(
  routes: readonly MountedRoute[],
  port: PortState,
  { metrics }: ServiceContext,
): Handler {
  const requests = metrics.counter(
    'sluice_debug_requests_total',
    'Answered requests of the debug port.',
    ['route', 'status'],
  )
  const paths = routes.map(({ path }) => `${path}\n`).join('')
  const mounted = new Map(
    routes.map(({ path, methods = GET, createHandler }) => {
      const onAnswer = (status: number): void => requests.with(path, String(status)).add()
      const handle = createHandler({
        port,
        onAnswer,
        onError: (response, error) => {
          const problem = problemOfError(error)
          onAnswer(problem.status)
          sendProblem(response, problem, port.isClosing)
        },
      })
      return [path, { methods, handle }] as const
    }),
  )
  return (request, response) => {
    const { url = '/', method = 'GET' } = request
    const [path = '/'] = url.split('?', 1)
    const route = mounted.get(path)
    if (route?.methods.includes(method)) {
      route.handle(request, response)
      return
    }
    const status = route !== undefined ? 405 : path === '/' ? 200 : 404
    requests.with(route === undefined && path !== '/' ? 'other' : path, String(status)).add()
    if (status === 200) {
      sendText(response, 200, 'text/plain; charset=utf-8', paths, port.isClosing)
      return
    }
    const problem =
      route === undefined
        ? problemOf(404, 'unknown-route', 'there is nothing at this path')
        : problemOf(405, 'method-not-allowed', `accepted: ${route.methods.join(', ')}`)
    sendProblem(response, problem, port.isClosing)
  }
}

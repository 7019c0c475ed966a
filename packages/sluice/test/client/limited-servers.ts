// Real servers on loopback for the client's tests: limited by our middleware, by express-rate-limit, or by a script.
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { rateLimit as peersRateLimit } from 'express-rate-limit'
import { rateLimit } from '../../src/http/express.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Clock } from '../../src/time/clock.ts'

export interface LimitedServer {
  readonly url: string
  /** Responses so far, by status. */
  readonly statuses: Map<number, number>
  /** When requests arrived. */
  readonly arrivals: number[]
  stop(): Promise<void>
}

/** Serves a handler at a free port and counts its responses. */
export async function serve(handler: RequestListener): Promise<LimitedServer> {
  const statuses = new Map<number, number>()
  const arrivals: number[] = []
  const server: Server = createServer((request, response) => {
    arrivals.push(performance.now())
    response.on('finish', () => {
      const { statusCode } = response
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
    })
    handler(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    statuses,
    arrivals,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Requests per second that the limited servers allow. */
export const LIMIT = 300

/** Servers that allow 300 requests per second by the given clock; express-rate-limit counts by `Date`. */
export const limitedServers: readonly [string, (clock: Clock) => Promise<LimitedServer>][] = [
  [
    'our middleware, 300/s',
    (clock) => {
      const limit = { quota: LIMIT, window: '1s' } as const
      const app = express().use(rateLimit(createLimiter({ limit, store: memoryStore({ clock }) })))
      return serve(app.get('/', (_, response) => void response.send('ok')) as RequestListener)
    },
  ],
  ...(['draft-7', 'draft-8'] as const).map(
    (standardHeaders): [string, (clock: Clock) => Promise<LimitedServer>] => [
      `express-rate-limit, ${standardHeaders}, 300 in 1 s`,
      () => {
        const limited = peersRateLimit({
          windowMs: 1000,
          limit: LIMIT,
          standardHeaders,
          legacyHeaders: false,
        })
        const app = express().use(limited)
        return serve(app.get('/', (_, response) => void response.send('ok')) as RequestListener)
      },
    ],
  ),
]

/** A server that answers from a list, repeating the last entry, and records what it receives. */
export async function scriptedServer(
  replies: readonly (readonly [status: number, headers?: Record<string, string>])[],
): Promise<LimitedServer & { readonly received: string[] }> {
  const received: string[] = []
  const read = async (request: IncomingMessage): Promise<string> => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    return `${request.method} ${request.url} ${body}`.trim()
  }
  const server = await serve((request, response) => {
    void read(request).then((text) => {
      received.push(text)
      const [status, headers = {}] = replies[Math.min(received.length, replies.length) - 1]!
      response.writeHead(status, headers).end(`answer ${received.length}`)
    })
  })
  return { ...server, received }
}

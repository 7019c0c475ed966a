// A plain Node server behind one guard, for tests of what all adapters share.
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'
import type { AnyLimiter, HttpOptions, RateLimitOptions } from '../../src/http/index.ts'
import { rateLimit } from '../../src/http/node.ts'

const closing: (() => void)[] = []

afterAll(() => {
  for (const close of closing.splice(0)) close()
})

/** Serves until the tests are over; gives the address. */
export async function serving(
  limiter: AnyLimiter | RateLimitOptions<IncomingMessage, ServerResponse>,
  options: HttpOptions<IncomingMessage, ServerResponse> = {},
  handler: RequestListener = (_, response) => void response.end('ok'),
  host = '127.0.0.1',
): Promise<string> {
  const limit = rateLimit<IncomingMessage, ServerResponse>(limiter, options)
  return listening(
    (request, response) => limit(request, response, () => handler(request, response)),
    host,
  )
}

/** Serves a handler until the tests are over; gives the address. */
export async function listening(handler: RequestListener, host = '127.0.0.1'): Promise<string> {
  const server = createServer(handler).listen(0, host)
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

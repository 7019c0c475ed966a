// Reads the client's request out of the auth request that a proxy sends.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FrameworkAdapter } from 'sluice/http'
import { fieldOf } from '../net/counted-fields.ts'
import type { ProxyDialect } from './proxies.ts'

/** An adapter for one kind of proxy; the route follows from the declared patterns alone. */
export function proxyAdapter({
  uri,
  method,
}: ProxyDialect): FrameworkAdapter<IncomingMessage, ServerResponse> {
  return {
    peerAddress: (request) => request.socket.remoteAddress,
    header: fieldOf,
    method: (request) => fieldOf(request, method) ?? 'GET',
    path: (request) => fieldOf(request, uri) ?? '/',
    route: () => undefined,
    get: (response, name) => {
      const value = response.getHeader(name)
      return value === undefined ? undefined : String(value)
    },
    set: (response, name, value) => void response.setHeader(name, value),
  }
}

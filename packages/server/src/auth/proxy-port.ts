// Reads the request that a proxy asks about out of the request that the proxy sends.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FrameworkAdapter } from 'sluice/http'
import type { ProxyDialect } from './proxies.ts'

/** A port for one kind of proxy; the route follows from the declared patterns alone. */
export function proxyPort({
  uri,
  method,
}: ProxyDialect): FrameworkAdapter<IncomingMessage, ServerResponse> {
  const field = (request: IncomingMessage, name: string): string | undefined => {
    const value = request.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
  return {
    peerAddress: (request) => request.socket.remoteAddress,
    header: field,
    method: (request) => field(request, method) ?? 'GET',
    path: (request) => field(request, uri) ?? '/',
    route: () => undefined,
    get: (response, name) => {
      const value = response.getHeader(name)
      return value === undefined ? undefined : String(value)
    },
    set: (response, name, value) => void response.setHeader(name, value),
  }
}

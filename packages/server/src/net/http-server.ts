// Makes the server of an HTTP/1.1 listener, with or without TLS.
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { ListenerTls } from '../tls/listener-tls.ts'

/**
 * A server that does not listen yet; with TLS it follows the listener's certificates, and a client has as long for the
 * handshake as for its headers.
 */
export function httpServer(
  options: ServerOptions,
  handler: RequestListener,
  tls?: ListenerTls,
): Server {
  if (tls === undefined) return createServer(options, handler)
  const { headersTimeout: handshakeTimeout } = options
  const timing = handshakeTimeout === undefined ? {} : { handshakeTimeout }
  const server = createSecureServer({ ...options, ...tls.options, ...timing }, handler)
  tls.attach(server)
  return server
}

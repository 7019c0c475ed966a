// Makes the server of an HTTP/2 listener, with or without TLS.
import { createSecureServer, createServer, type Http2Server, type ServerOptions } from 'node:http2'
import type { ListenerTls } from '../tls/listener-tls.ts'

/** A server that does not listen yet; with TLS it follows the listener's certificates. */
export function http2Server(options: ServerOptions, tls?: ListenerTls): Http2Server {
  if (tls === undefined) return createServer(options)
  const server = createSecureServer({ ...options, ...tls.options })
  tls.attach(server)
  return server
}
